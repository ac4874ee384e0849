package definitions

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"candlemark/internal/access/auth"

	bolt "go.etcd.io/bbolt"
)

var errDisk = errors.New("input/output error")

// A failed write is reported to its caller and stores nothing.
func TestFailedWrite(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		m.must(t, put(auth.VHost{Name: "/"}))
		switch x := m.Store.(type) {
		case *Memory:
			x.Fail(errDisk)
		case *File:
			x.commit = func(*bolt.Tx) error { return errDisk }
		}
		if _, err := Wait(m, put(Queue{VHost: "/", Name: "q"})); !errors.Is(err, errDisk) {
			t.Errorf("got %v", err)
		}
		if m.Revision() != 1 {
			t.Errorf("revision %d", m.Revision())
		}
		m = m.reopen(t)
		if got := m.all(t); len(got.Queues) != 0 {
			t.Errorf("got %+v", got)
		}
		if revision := m.must(t, put(Queue{VHost: "/", Name: "q"})); revision != 2 {
			t.Errorf("revision %d", revision)
		}
	})
}

// After a failed commit the contents of the disk are unknown, and all further changes fail, unless the disk was full.
func TestFailureIsFinal(t *testing.T) {
	for _, tt := range []struct {
		fault error
		final bool
	}{{errDisk, true}, {&os.PathError{Err: syscall.ENOSPC}, false}, {&os.PathError{Err: syscall.EDQUOT}, false}} {
		m := fileKeeper(t, t.TempDir())
		f := m.Store.(*File)
		f.commit = func(*bolt.Tx) error { return tt.fault }
		if _, err := Wait(m, put(auth.VHost{Name: "/"})); !errors.Is(err, tt.fault) {
			t.Errorf("got %v", err)
		}
		f.commit = (*bolt.Tx).Commit
		if _, err := Wait(m, put(auth.VHost{Name: "/"})); (err != nil) != tt.final {
			t.Errorf("after %v: %v", tt.fault, err)
		}
		select {
		case err := <-f.Failed():
			if !tt.final || !errors.Is(err, tt.fault) {
				t.Errorf("%v is final: %v", tt.fault, err)
			}
		default:
			if tt.final {
				t.Errorf("%v is not reported", tt.fault)
			}
		}
	}
}

func TestClosed(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		const n = 100
		answers := make(chan error, n)
		for range n {
			m.Apply(put(auth.VHost{Name: "/"}), func(_ uint64, err error) { answers <- err })
		}
		if err := errors.Join(m.Close(), m.Close()); err != nil {
			t.Error(err)
		}
		if len(answers) != n {
			t.Errorf("%d answers when it is closed", len(answers))
		}
		if _, err := Wait(m, put(auth.VHost{Name: "v"})); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestHold(t *testing.T) {
	m := NewMemory()
	release := m.Hold()
	answers := make(chan error, 1)
	m.Apply(put(auth.VHost{Name: "/"}), func(_ uint64, err error) { answers <- err })
	if len(answers) != 0 || m.Revision() != 0 {
		t.Error("not held")
	}
	release()
	if err := <-answers; err != nil || m.Revision() != 1 {
		t.Errorf("%v, revision %d", err, m.Revision())
	}
}

func TestFolderIsLocked(t *testing.T) {
	dir := t.TempDir()
	_ = fileKeeper(t, dir)
	if _, err := Open(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// A flipped bit is detected, or is in unused space: definitions that can be opened equal the written ones.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	m := fileKeeper(t, dir)
	for _, vhost := range []string{"a", "b", "c"} {
		m.must(t, sample(vhost).change())
	}
	m.must(t, remove(auth.VHost{Name: "b"}))
	want := m.all(t)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 300 {
		damaged := append([]byte(nil), whole...)
		at, bit := r.IntN(len(whole)), byte(1)<<r.IntN(8)
		damaged[at] ^= bit
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(dir)
		if err != nil {
			found++
			continue
		}
		// One of the two meta pages may be damaged: then the other one is used.
		got, err := f.Load()
		if err != nil {
			found++
		} else if !equal(got, want) && got.Revision+1 != want.Revision {
			t.Errorf("bit %08b of byte %d: got %+v", bit, at, got)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if found == 0 {
		t.Error("no damage was found at all")
	}
	t.Logf("%d of 300 found, in %d bytes", found, len(whole))
}

// A record of a later version is refused as such if it is that which all files have, and else as damaged: one bit of its version differs.
func TestNewerVersion(t *testing.T) {
	for in, want := range map[string]error{"counts": ErrNewer, "a virtual host": ErrDamaged} {
		t.Run(in, func(t *testing.T) {
			m := fileKeeper(t, t.TempDir())
			m.must(t, put(auth.VHost{Name: "/"}))
			f := m.Store.(*File)
			of, key := broker, countsKey
			if want == ErrDamaged {
				of, key = vhosts, join("/")
			}
			if err := f.db.Update(func(tx *bolt.Tx) error {
				record := append([]byte(nil), fileTables{tx}.get(of, key)...)
				record[0]++
				return fileTables{tx}.put(of, key, record)
			}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Load(); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
}

// A file of format 1 has no table of the history of policies; the first change adds it, and the file has the current format.
func TestOldFormat(t *testing.T) {
	dir := t.TempDir()
	m := fileKeeper(t, dir)
	m.must(t, put(auth.VHost{Name: "/"}))
	f := m.Store.(*File)
	if err := f.db.Update(func(tx *bolt.Tx) error {
		counts := []byte(`{"format":1,"revision":1,"incarnation":0,"lines":1}`)
		return errors.Join(tx.DeleteBucket([]byte(history)), fileTables{tx}.put(broker, countsKey, seal(broker, countsKey, counts)))
	}); err != nil {
		t.Fatal(err)
	}
	m = m.reopen(t)
	if d := m.all(t); len(d.VHosts) != 1 || len(d.History) != 0 {
		t.Errorf("%+v", d)
	}
	m.must(t, put(sample("/").History[0]))
	m = m.reopen(t)
	if d := m.all(t); len(d.History) != 1 || d.Revision != 2 {
		t.Errorf("%+v", d)
	}
	m.must(t, remove(auth.VHost{Name: "/"}))
	if d := m.reopen(t).all(t); len(d.History) != 0 {
		t.Errorf("%+v", d)
	}
}

// The remains of a new file that was not completed are ignored.
func TestEmptyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, FileName+".1"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	m := fileKeeper(t, dir)
	m.must(t, put(auth.VHost{Name: "/"}))
	if len(m.reopen(t).all(t).VHosts) != 1 {
		t.Error("nothing stored")
	}
}
