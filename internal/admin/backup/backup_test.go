package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/storage/store/vfs"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// contents are the files of a small cut.
var contents = map[string]string{
	"definitions.db": strings.Repeat("definitions", 1000), "journal/0000000003.segment": strings.Repeat("messages", 3000), "journal/checkpoint-0000000001": "",
}

// cut returns a cut of contents that counts released files in released.
func cut(released *int) *Cut {
	c := &Cut{Manifest: Manifest{Version: "1.2.3", Node: "candlemark@test", Messages: 7, Revision: 9}}
	for _, name := range []string{"definitions.db", "journal/0000000003.segment", "journal/checkpoint-0000000001"} {
		c.Sources = append(c.Sources, Source{
			Name: name, Size: int64(len(contents[name])), From: &Piece{strings.NewReader(contents[name]), int64(len(contents[name]))},
			Release: func() { *released++ },
		})
	}
	return c
}

// folder returns a file system with an empty folder /backup.
func folder(t *testing.T, seed uint64) *vfs.Memory {
	t.Helper()
	m := vfs.NewMemory(seed)
	if err := m.MakeDir("/backup"); err != nil {
		t.Fatal(err)
	}
	return m
}

func copied(m *vfs.Memory) error {
	released := 0
	_, err := Copy(context.Background(), m, "/backup", cut(&released), func(int64) {})
	if released != len(contents) {
		err = errors.Join(err, fmt.Errorf("%d files were released", released))
	}
	return err
}

// same fails unless a restored folder holds exactly contents.
func same(t *testing.T, m *vfs.Memory, dir string) {
	t.Helper()
	top, err := m.List(dir)
	if err != nil || !slices.Equal(top, []string{"definitions.db", "journal"}) {
		t.Fatalf("%v %v", top, err)
	}
	for name, want := range contents {
		if got := content(t, m, dir+"/"+name); string(got) != want {
			t.Fatalf("%s: %d bytes, not %d", name, len(got), len(want))
		}
	}
}

func content(t *testing.T, m *vfs.Memory, path string) []byte {
	t.Helper()
	size, err := m.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.OpenRead(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBackupAndRestore: a backup is restored, only into an empty folder; a second backup into the same folder is refused.
func TestBackupAndRestore(t *testing.T) {
	m := folder(t, 1)
	if err := copied(m); err != nil {
		t.Fatal(err)
	}
	got, err := Restore(t.Context(), m, "/backup", "/new/data")
	if err != nil || got.Messages != 7 || got.Revision != 9 || got.Node != "candlemark@test" || got.Version != "1.2.3" || len(got.Files) != 3 {
		t.Fatalf("%+v %v", got, err)
	}
	same(t, m, "/new/data")
	if err := CheckFolder(m, "/new/data"); err != nil {
		t.Error(err)
	}
	if _, err := Restore(t.Context(), m, "/backup", "/new/data"); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Error(err)
	}
	if err := copied(m); err == nil {
		t.Error("a second backup in the same folder")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ended, m, "/backup"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCrashes: after a power cut during a backup the backup is complete or refused; after one during a restore the
// folder is complete or refused.
func TestCrashes(t *testing.T) {
	for _, restoring := range []bool{false, true} {
		finished := 0
		for n := 0; ; n++ {
			ended := false
			for seed := range uint64(20) {
				m := folder(t, seed)
				if restoring {
					if err := copied(m); err != nil {
						t.Fatal(err)
					}
				}
				m.CrashAfter(n)
				var err error
				if !restoring {
					err = copied(m)
				} else {
					_, err = Restore(t.Context(), m, "/backup", "/new/data")
				}
				ended = ended || !m.Crashed()
				m.Crash()
				if !restoring {
					_, found := Restore(t.Context(), m, "/backup", "/new/data")
					if found != nil {
						if err == nil {
							t.Fatalf("%d, %d: a backup that was finished is refused: %v", n, seed, found)
						}
						continue
					}
				} else if names, failed := m.List("/new/data"); failed != nil || len(names) == 0 || CheckFolder(m, "/new/data") != nil {
					if err == nil {
						t.Fatalf("%d, %d: a folder that was restored has %v", n, seed, names)
					}
					continue
				}
				same(t, m, "/new/data")
				finished++
			}
			if ended {
				break
			}
		}
		if finished < 20 {
			t.Errorf("%d were whole", finished)
		}
	}
}

// TestDamagedBackup: a backup with a flipped bit, or with a file that is missing, longer or shorter, is refused, and
// nothing is restored. A flipped bit in the manifest may go unnoticed if all files are restored unchanged.
func TestDamagedBackup(t *testing.T) {
	files := []string{ManifestName, "definitions.db", "journal-0000000003.segment", "journal-checkpoint-0000000001"}
	refused := func(m *vfs.Memory, what string) bool {
		_, err := Restore(t.Context(), m, "/backup", "/new/data")
		if err == nil {
			same(t, m, "/new/data")
			return false
		}
		if _, there := m.List("/new/data"); there == nil {
			t.Errorf("%s: %v, and something was restored", what, err)
		}
		return true
	}
	for _, name := range files {
		m := folder(t, 1)
		if err := copied(m); err != nil {
			t.Fatal(err)
		}
		whole := content(t, m, "/backup/"+name)
		for at := int64(0); at < int64(len(whole)); at += max(int64(len(whole))/100, 1) {
			m := folder(t, 1)
			if err := copied(m); err != nil {
				t.Fatal(err)
			}
			m.Flip("/backup/"+name, at, int(at)%8)
			if !refused(m, name) && name != ManifestName {
				t.Errorf("%s: a bit at %d", name, at)
			}
		}
		if err := m.Remove("/backup/" + name); err != nil {
			t.Fatal(err)
		}
		if !refused(m, name) {
			t.Errorf("no %s", name)
		}
		for _, b := range [][]byte{append(slices.Clone(whole), 'x'), whole[:len(whole)/2]} {
			f, err := m.Create("/backup/"+name, 0)
			if err == nil {
				_, err = f.WriteAt(b, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b, whole) && !refused(m, name) {
				t.Errorf("%s with %d bytes", name, len(b))
			}
			if err := m.Remove("/backup/" + name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRefusedManifests: a manifest of a newer version or with invalid contents is refused.
func TestRefusedManifests(t *testing.T) {
	for text, want := range map[string]string{
		`{"format":2,"version":"9.9"}`: "newer version 9.9", `{}`: "lists no files", `{"format":1}`: "lists no files",
		`{"format":1,"files":[{"name":"../../etc/passwd","size":1,"sha256":"` + strings.Repeat("00", 32) + `"}]}`: "../etc/passwd",
		`{"format":1,"files":[{"name":"/etc/passwd","size":1,"sha256":"` + strings.Repeat("00", 32) + `"}]}`:      "/etc/passwd",
	} {
		m := folder(t, 1)
		f, err := m.Create("/backup/"+ManifestName, 0)
		if err == nil {
			_, err = f.WriteAt([]byte(text), 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Check(t.Context(), m, "/backup"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestFailedBackup: a backup that fails for lack of space or by a disk error, or is cancelled, leaves no files behind.
func TestFailedBackup(t *testing.T) {
	broken := errors.New("broken")
	m := folder(t, 1)
	m.SetCapacity(spareRoom + 1000)
	if err := copied(m); !errors.Is(err, vfs.ErrFull) {
		t.Error(err)
	}
	for kind, least := range map[vfs.Kind]int{vfs.Create: 4, vfs.Write: 3, vfs.Sync: 4, vfs.Rename: 1, vfs.SyncDir: 2} {
		for n := 0; ; n++ {
			m := folder(t, 1)
			count, left := 0, n
			m.Fail(func(o vfs.Operation) *vfs.Fault {
				if o.Kind != kind {
					return nil
				}
				count++
				if left--; left == -1 {
					return &vfs.Fault{Err: errors.Join(broken, vfs.ErrFull)}
				}
				return nil
			})
			err := copied(m)
			m.Fail(nil)
			if err == nil {
				if n < least {
					t.Errorf("kind %d: %d operations", kind, n)
				}
				break
			}
			if names, failed := m.List("/backup"); !errors.Is(err, broken) || failed != nil || len(names) > 0 {
				t.Fatalf("kind %d, %d: %v, left are %v", kind, n, err, names)
			}
		}
	}
	m = folder(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	released := 0
	if _, err := Copy(ctx, m, "/backup", cut(&released), func(int64) { cancel() }); !errors.Is(err, context.Canceled) || released != 3 {
		t.Errorf("%v, %d released", err, released)
	}
	if names, _ := m.List("/backup"); len(names) > 0 {
		t.Error(names)
	}
	short := cut(&released)
	short.Sources[1].Size++
	if _, err := Copy(t.Context(), m, "/backup", short, func(int64) {}); err == nil {
		t.Error("a file that is shorter than it was")
	}
}
