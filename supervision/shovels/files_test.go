//go:build unix

package shovels

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Only regular files of bounded size in the folder of the operator are read, even if a name or a link leads elsewhere.
func TestFiles_ACC5(t *testing.T) {
	folder, outside := filepath.Join(t.TempDir(), "shovels"), t.TempDir()
	write := func(path string, size int) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.MkdirAll(filepath.Join(folder, "below", "..data"), 0o700), syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
	for link, to := range map[string]string{
		"inside": "below/ca", "renewed": "below/..data/ca", "escapes": outside + "/secret", "climbs": "../../shovels/../" + filepath.Base(outside) + "/secret",
		"zero": "/dev/zero", "environment": "/proc/self/environ", "loop": "loop", "topipe": "pipe",
	} {
		err = errors.Join(err, os.Symlink(to, filepath.Join(folder, link)))
	}
	if err != nil {
		t.Fatal(err)
	}
	write(folder+"/ca", 5)
	write(folder+"/below/ca", 6)
	write(folder+"/below/..data/ca", 7)
	write(folder+"/largest", maxFile)
	write(folder+"/larger", maxFile+1)
	write(folder+"/empty", 0)
	write(outside+"/secret", 8)
	write(folder+"x", 8)
	files := NewFiles(folder)
	for name, want := range map[string]int{
		"ca": 5, folder + "/ca": 5, folder + "//below/./ca": 6, "below/../ca": 5, "inside": 6, "renewed": 7, "largest": maxFile, "empty": 0,
	} {
		if got, err := files.Read(t.Context(), name); err != nil || len(got) != want {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for name, want := range map[string]string{
		"": errOutside.Error(), "..": errOutside.Error(), "../" + filepath.Base(outside): errOutside.Error(), outside + "/secret": errOutside.Error(), folder + "x": errOutside.Error(),
		folder + "/../shovelsx": errOutside.Error(), "/dev/zero": errOutside.Error(), "/etc/passwd": errOutside.Error(), "/proc/self/environ": errOutside.Error(),
		folder: "not a regular file", "below": "not a regular file", "pipe": "not a regular file", "topipe": "not a regular file",
		"escapes": "escapes", "climbs": "escapes", "zero": "escapes", "environment": "escapes", "loop": "too many", "larger": "more than 1048576 bytes", "none": "no such file",
		"ca/x": "not a directory", "c\x00a": "invalid argument",
	} {
		if got, err := files.Read(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d bytes, %v, want %s", name, len(got), err, want)
		}
	}
	if _, err := NewFiles("").Read(t.Context(), "/etc/passwd"); !errors.Is(err, errNoFolder) {
		t.Error(err)
	}
	if _, err := NewFiles(folder+"/none").Read(t.Context(), "ca"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	write(folder+"/ca", 9) // files are read anew each time
	if got, err := files.Read(t.Context(), "ca"); err != nil || len(got) != 9 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A file system that does not answer delays nobody beyond the end of the context, and holds a bounded number of readers.
func TestFilesThatDoNotAnswer_ACC5(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files, hangs, reading := NewFiles("/somewhere"), make(chan struct{}), make(chan struct{}, 100)
		files.read = func(string, string) ([]byte, error) {
			reading <- struct{}{}
			<-hangs
			return nil, nil
		}
		for range 3 * maxReaders {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := files.Read(ctx, "ca"); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		}
		if n := len(reading); n != maxReaders {
			t.Errorf("%d readers", n)
		}
		close(hangs)
		synctest.Wait()
		if _, err := files.Read(t.Context(), "ca"); err != nil {
			t.Error(err)
		}
	})
}
