package copies

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"candlemark/internal/storage/store/vfs"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestUnpack_CLU5: a replica that is incomplete, damaged, or has files outside of its folder is not accepted.
func TestUnpack_CLU5(t *testing.T) {
	file := func(name, content string, sum ...byte) []byte {
		b := binary.BigEndian.AppendUint16(nil, uint16(len(name)))
		b = binary.BigEndian.AppendUint64(append(b, name...), uint64(len(content)))
		return append(append(b, content...), sum...)
	}
	for what, sent := range map[string][]byte{
		"nothing":    nil,
		"cut off":    file("journal/1", "abc"),
		"damaged":    append(file("journal/1", "abc", 1, 2, 3, 4), 0, 0),
		"outside":    append(file("journal/../../x", "", 0, 0, 0, 0), 0, 0),
		"no journal": append(file("other", "", 0, 0, 0, 0), 0, 0),
	} {
		dir := filepath.Join(t.TempDir(), "replica")
		u, err := NewUnpacker(vfs.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = u.Write(sent)
		if err := u.Close(); err == nil {
			t.Errorf("%s: no error", what)
		}
		if err := RemoveFolder(vfs.OS, dir); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("the folder is still there")
		}
	}
}
