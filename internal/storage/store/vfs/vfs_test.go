package vfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// both runs a test with the disk and with the file system in memory.
func both(t *testing.T, test func(t *testing.T, f FS, dir string)) {
	t.Run("disk", func(t *testing.T) { test(t, OS, t.TempDir()) })
	t.Run("memory", func(t *testing.T) {
		m := NewMemory(1)
		must(t, m.MakeDir("/data"))
		test(t, m, "/data")
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeAt(t *testing.T, f File, text string, at int64) {
	t.Helper()
	_, err := f.WriteAt([]byte(text), at)
	must(t, err)
}

func create(t *testing.T, f FS, name string, size int64) File {
	t.Helper()
	file, err := f.Create(name, size)
	must(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func content(t *testing.T, f FS, name string) string {
	t.Helper()
	size, err := f.Stat(name)
	must(t, err)
	file, err := f.OpenRead(name)
	must(t, err)
	b := make([]byte, size)
	_, err = file.ReadAt(b, 0)
	if !errors.Is(err, io.EOF) {
		must(t, err)
	}
	must(t, file.Close())
	return string(b)
}

func TestCreateGivesZeros(t *testing.T) {
	both(t, func(t *testing.T, f FS, dir string) {
		name := filepath.Join(dir, "a")
		file := create(t, f, name, 10_000)
		if got := content(t, f, name); got != string(make([]byte, 10_000)) {
			t.Fatalf("%d bytes, not zeros", len(got))
		}
		if _, err := f.Create(name, 1); !errors.Is(err, fs.ErrExist) {
			t.Fatalf("again: %v", err)
		}
		writeAt(t, file, "hello", 4094)
		writeAt(t, file, "end", 10_000)
		must(t, file.Sync())
		b := make([]byte, 9)
		n, err := file.ReadAt(b, 4092)
		if n != 9 || err != nil || string(b) != "\x00\x00hello\x00\x00" {
			t.Fatalf("%q, %v", b[:n], err)
		}
		n, err = file.ReadAt(b, 9_999)
		if n != 4 || !errors.Is(err, io.EOF) || string(b[:4]) != "\x00end" {
			t.Fatalf("at the end: %q, %v", b[:n], err)
		}
		if n, err = file.ReadAt(b, 20_000); n != 0 || !errors.Is(err, io.EOF) {
			t.Fatalf("behind the end: %d, %v", n, err)
		}
	})
}

func TestNames(t *testing.T) {
	both(t, func(t *testing.T, f FS, dir string) {
		at := func(name string) string { return filepath.Join(dir, name) }
		must(t, f.MakeDir(at("sub/deep")))
		must(t, f.MakeDir(at("sub")))
		for _, name := range []string{"b", "a", "c"} {
			writeAt(t, create(t, f, at(name), 0), name, 0)
		}
		must(t, f.Rename(at("b"), at("a")))
		open, err := f.Open(at("c"))
		must(t, err)
		defer func() { must(t, open.Close()) }()
		must(t, f.Rename(at("c"), at("d")))
		writeAt(t, open, "still", 0)
		must(t, f.SyncDir(dir))
		names, err := f.List(dir)
		must(t, err)
		if !slices.Equal(names, []string{"a", "d", "sub"}) || content(t, f, at("a")) != "b" || content(t, f, at("d")) != "still" {
			t.Fatalf("%v, a is %q", names, content(t, f, at("a")))
		}
		must(t, f.Remove(at("a")))
		for what, err := range map[string]error{
			"remove": f.Remove(at("a")), "rename": f.Rename(at("a"), at("b")), "sync": f.SyncDir(at("none")),
			"open": second(f.Open(at("a"))), "read": second(f.OpenRead(at("a"))), "stat": second(f.Stat(at("a"))),
			"list": second(f.List(at("none"))), "create": second(f.Create(at("none/a"), 0)),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if f.Rename(at("d"), at("sub/d")) == nil {
			t.Error("renamed to another folder")
		}
		read, err := f.OpenRead(at("d"))
		must(t, err)
		if _, err := read.WriteAt([]byte("x"), 0); err == nil {
			t.Error("written to what is open for reading")
		}
		must(t, read.Close())
		if free, err := f.Free(dir); free == 0 || err != nil {
			t.Errorf("%d bytes free, %v", free, err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestFullDisk needs a small file system, which CANDLEMARK_SMALL_DISK names.
func TestFullDisk(t *testing.T) {
	dir := os.Getenv("CANDLEMARK_SMALL_DISK")
	if dir == "" {
		t.Skip("CANDLEMARK_SMALL_DISK names no folder")
	}
	name := filepath.Join(dir, "a")
	if _, err := OS.Create(name, 1<<40); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	if _, err := OS.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a file is left: %v", err)
	}
}

func TestFillWritesZeros(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "a"))
	must(t, err)
	defer func() { must(t, file.Close()) }()
	must(t, fill(file, 3<<20+5))
	b, err := os.ReadFile(file.Name())
	must(t, err)
	if !bytes.Equal(b, make([]byte, 3<<20+5)) {
		t.Fatalf("%d bytes", len(b))
	}
}
