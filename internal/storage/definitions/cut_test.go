package definitions

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestCut: a copy of the file holds the definitions at the moment of the cut, even if changes are stored before it is
// written; and nothing is stored while the function passed to Cut runs.
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
	const more = 200 // enough that some wait for the release
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

// isCopy opens a file and checks that it has these definitions and accepts the next change.
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
