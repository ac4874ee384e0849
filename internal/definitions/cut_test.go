package definitions

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestCut: a copy of the file is what the definitions were at the moment, whatever is stored meanwhile; and nothing is stored while
// that moment lasts.
func TestCut(t *testing.T) {
	f, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	store := func(first, last uint64) {
		t.Helper()
		for n := first; n <= last; n++ {
			if _, err := Wait(f, stepTo(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	store(1, 50)
	want, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	stored := make(chan error, 300)
	c, err := f.Cut(func() error {
		f.Apply(stepTo(51), func(_ uint64, err error) { stored <- err })
		if f.Revision() != 50 || len(stored) > 0 {
			t.Error("a change was stored")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-stored; err != nil {
		t.Fatal(err)
	}
	const more = 200 // so many that some have to wait for the release
	for n := uint64(52); n < 52+more; n++ {
		f.Apply(stepTo(n), func(_ uint64, err error) { stored <- err })
	}
	var copied bytes.Buffer
	if n, err := c.WriteTo(&copied); err != nil || n != c.Size || c.Revision != 50 {
		t.Errorf("%d of %d bytes, revision %d: %v", n, c.Size, c.Revision, err)
	}
	c.Release()
	for range more {
		if err := <-stored; err != nil {
			t.Error(err)
		}
	}
	isCopy(t, copied.Bytes(), want)
	broken := errors.New("broken")
	if _, err := f.Cut(func() error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	store(252, 253)
}

// isCopy opens a file, which is to have some definitions and to take the next change.
func isCopy(t *testing.T, file []byte, want *Definitions) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := f.Load(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v\n%+v", err, got, want)
	}
	if _, err := Wait(f, stepTo(want.Revision+1)); err != nil {
		t.Error(err)
	}
}
