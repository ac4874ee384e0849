package first_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/cluster/first"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"
)

// TestConvert_CLU27: the folder belongs to a broker alone until it is marked, and whole after the next start, wherever a crash comes.
func TestConvert_CLU27(t *testing.T) {
	dir := t.TempDir()
	f, err := definitions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Wait(f, definitions.Change{Put: []any{auth.VHost{Name: "v"}}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	replica := filepath.Join(dir, "replica-1")
	failed := errors.New("a crash")
	if err := first.Convert(dir, replica, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if f, err = definitions.Open(dir); err != nil {
		t.Fatal(err)
	}
	if err := first.Convert(dir, replica, func() error { return nil }); !errors.Is(err, definitions.ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := vfs.OS.MakeDir(replica); err != nil {
		t.Fatal(err)
	}
	if err := definitions.HandOver(dir, replica); err != nil { // a crash after this
		t.Fatal(err)
	}
	if _, err := definitions.Open(dir); !errors.Is(err, definitions.ErrCluster) {
		t.Errorf("marked: %v", err)
	}
	for range 2 {
		if err := first.Finish(dir, replica); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(replica, segment.Folder)); err != nil {
		t.Error(err)
	}
	if f, err = definitions.Open(replica); err != nil {
		t.Fatal(err)
	}
	d, err := f.Load()
	if err = errors.Join(err, f.Close()); err != nil || len(d.VHosts) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}
