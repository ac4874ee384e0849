package progress

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store/vfs"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder returns a file system with the journal's folder.
func folder(t *testing.T, seed uint64) *vfs.Memory {
	m := vfs.NewMemory(seed)
	must(t, m.MakeDir("/journal"))
	return m
}

func opened(t *testing.T, m *vfs.Memory) *File {
	t.Helper()
	f := New(m, "/journal", Mark{Journal: 7}, func(err error) { t.Error(err) })
	must(t, f.Open())
	t.Cleanup(f.Close)
	return f
}

// After any crash, the mark is one of the written marks, and not older than the last synced mark.
func TestMark_Crashes(t *testing.T) {
	for seed := range uint64(300) {
		m, random := folder(t, seed), rand.New(rand.NewPCG(seed, 1))
		f := opened(t, m)
		synced, written := uint64(0), uint64(0)
		for batch := uint64(1); batch < 20 && !m.Crashed(); batch++ {
			if random.IntN(30) == 0 {
				m.CrashAfter(0)
				break
			}
			f.Change(func(m *Mark) { m.Batch = batch })
			written = batch
			if f.Write(true); random.IntN(4) == 0 {
				must(t, f.Sync())
				synced = batch
			}
		}
		m.Crash()
		got, err := Read(m, "/journal")
		if err != nil || got.Journal != 7 || got.Batch < synced || got.Batch > written {
			t.Fatalf("seed %d: %+v, %v; %d were synced and %d written", seed, got, err, synced, written)
		}
		if f = opened(t, m); f.Now() != got {
			t.Fatalf("seed %d: %+v, not %+v", seed, f.Now(), got)
		}
	}
}

// The file is complete under its name, or not there.
func TestMark_CrashWhileMade(t *testing.T) {
	for n := range 12 {
		for seed := range uint64(20) {
			m := folder(t, seed)
			m.CrashAfter(n)
			_ = New(m, "/journal", Mark{Journal: 7}, nil).Open()
			m.CrashAfter(0)
			m.Crash()
			if got, err := Read(m, "/journal"); !errors.Is(err, fs.ErrNotExist) && (err != nil || got.Journal != 7) {
				t.Fatalf("%d operations: %+v, %v", n, got, err)
			}
			if f := opened(t, m); f.Journal() != 7 {
				t.Fatal("it was not made again")
			}
		}
	}
}

// A mark whose bytes differ from the written ones is not used; the other one is.
func TestMark_Damaged(t *testing.T) {
	for at := range int64(markSize) {
		m := folder(t, 1)
		f := opened(t, m)
		for batch := range uint64(2) {
			f.Change(func(m *Mark) { m.Batch = batch + 1 })
			must(t, f.Sync())
		}
		f.Close()
		for slot, want := range []string{"{7 0 0 0 1 0 0 0} <nil>", "{0 0 0 0 0 0 0 0} " + ErrDamaged.Error()} {
			m.Flip("/journal/"+Name, int64(1-slot)*slotSize+at, 3)
			got, err := Read(m, "/journal")
			if text := fmt.Sprint(got, err); text != want {
				t.Errorf("byte %d, %d damaged: %s", at, slot+1, text)
			}
		}
	}
	if m, err := Read(withFile(t, Contents(Mark{Journal: 3, Newest: 4})), "/journal"); err != nil || m != (Mark{Journal: 3, Newest: 4}) {
		t.Error(m, err)
	}
}

func withFile(t *testing.T, b []byte) vfs.FS {
	m := folder(t, 1)
	f, err := m.Create("/journal/"+Name, int64(len(b)))
	must(t, err)
	_, err = f.WriteAt(b, 0)
	must(t, errors.Join(err, f.Sync(), f.Close()))
	return m
}

// A busy journal does not write a mark for every batch; an idle one does, at once.
func TestMark_Rate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := folder(t, 1)
		f := opened(t, m)
		before := m.Operations()
		for range 1000 {
			f.Change(func(m *Mark) { m.Batch++ })
			f.Write(false)
			time.Sleep(time.Millisecond)
		}
		if n := m.Operations() - before; n > 10 {
			t.Errorf("%d writes in a second", n)
		}
		f.Write(true)
		before = m.Operations()
		f.Write(true)
		if got, err := Read(m, "/journal"); err != nil || got.Batch != 1000 || m.Operations() != before {
			t.Error(got, err)
		}
	})
}

// Lack of room is no failure; other errors are reported once.
func TestMark_Faults(t *testing.T) {
	m, failures := folder(t, 1), 0
	f := New(m, "/journal", Mark{Journal: 7}, func(error) { failures++ })
	fail := func(err error) {
		m.Fail(func(o vfs.Operation) *vfs.Fault {
			if o.Kind == vfs.Read || err == nil {
				return nil
			}
			return &vfs.Fault{Err: err}
		})
	}
	fail(vfs.ErrFull)
	must(t, f.Open())
	if f.Journal() != 0 {
		t.Error("it has an identity that no file has")
	}
	fail(nil)
	must(t, f.Sync())
	if f.Journal() != 7 {
		t.Error("it has no identity")
	}
	fail(vfs.ErrFull)
	f.Change(func(m *Mark) { m.Batch = 1 })
	if f.Write(true); !f.Behind() || !errors.Is(f.Sync(), vfs.ErrFull) {
		t.Error("it did not notice that the disk is full")
	}
	fail(errors.New("broken"))
	for range 3 {
		f.Write(true)
	}
	if failures != 1 {
		t.Errorf("%d failures", failures)
	}
	fail(nil)
	f.Close()
}
