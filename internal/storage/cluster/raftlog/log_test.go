package raftlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, fs vfs.FS, o raftlog.Options) *raftlog.Log {
	t.Helper()
	l, err := raftlog.Open(fs, "raft", o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// entries makes entries from an index on.
func entries(first uint64, n int, term uint64, size int) (list []*raft.Log) {
	for i := range n {
		data := bytes.Repeat([]byte{byte(first) + byte(i), byte(term)}, size/2)
		list = append(list, &raft.Log{Index: first + uint64(i), Term: term, Type: raft.LogCommand, Data: data})
	}
	return list
}

// check compares the log with what it should have; after a restart it may begin earlier, as files are removed as a whole.
func check(l *raftlog.Log, want []*raft.Log) error {
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	if len(want) == 0 {
		if first != 0 || last != 0 {
			return fmt.Errorf("entries %d to %d, want none", first, last)
		}
		return nil
	}
	if first > want[0].Index || last != want[len(want)-1].Index {
		return fmt.Errorf("entries %d to %d, want %d to %d", first, last, want[0].Index, want[len(want)-1].Index)
	}
	for _, w := range want {
		var got raft.Log
		if err := l.GetLog(w.Index, &got); err != nil {
			return err
		}
		if got.Term != w.Term || got.Type != w.Type || !bytes.Equal(got.Data, w.Data) {
			return fmt.Errorf("entry %d differs", w.Index)
		}
	}
	return nil
}

func TestLog(t *testing.T) {
	fs := vfs.NewMemory(1)
	l := open(t, fs, raftlog.Options{Size: 16 << 10})
	want := append(entries(1, 3, 1, 100), entries(4, 20, 2, 3000)...)
	for _, e := range want {
		if err := l.StoreLog(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := check(l, want); err != nil {
		t.Error(err)
	}
	if err := l.GetLog(99, &raft.Log{}); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("missing entry: %v", err)
	}
	if err := l.StoreLog(entries(30, 1, 2, 10)[0]); err == nil {
		t.Error("an entry behind a gap was accepted")
	}
	if err := l.DeleteRange(20, 23); err != nil {
		t.Fatal(err)
	}
	want = append(want[:19], entries(20, 2, 3, 9000)...)
	if err := l.StoreLogs(want[19:]); err != nil {
		t.Fatal(err)
	}
	if err := l.DeleteRange(1, 9); err != nil {
		t.Fatal(err)
	}
	want = want[9:]
	if err := check(l, want); err != nil {
		t.Error(err)
	}
	if err := l.DeleteRange(12, 13); err == nil {
		t.Error("entries in the middle were deleted")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, fs, raftlog.Options{Size: 16 << 10})
	if err := check(l, want); err != nil {
		t.Error(err)
	}
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	if err := l.DeleteRange(first, last); err != nil { // as after a snapshot
		t.Fatal(err)
	}
	want = entries(500, 3, 4, 50)
	if err := l.StoreLogs(want); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, fs, raftlog.Options{Size: 16 << 10})
	defer l.Close()
	if err := check(l, want); err != nil {
		t.Error(err)
	}
}

// TestKept: a snapshot leaves the last entries in the log.
func TestKept(t *testing.T) {
	l := open(t, vfs.NewMemory(1), raftlog.Options{Size: 16 << 10, Kept: 10 * 4096})
	defer l.Close()
	want := entries(1, 30, 1, 1000)
	for _, e := range want {
		if err := l.StoreLog(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.DeleteRange(1, 29); err != nil {
		t.Fatal(err)
	}
	if err := check(l, want[20:]); err != nil {
		t.Error(err)
	}
}

// TestNeed_CLU13: entries that nodes need stay, up to a size.
func TestNeed_CLU13(t *testing.T) {
	l := open(t, vfs.NewMemory(1), raftlog.Options{Size: 16 << 10, Kept: 4096})
	defer l.Close()
	for _, e := range entries(1, 30, 1, 1000) {
		if err := l.StoreLog(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		need  uint64
		most  int64
		first uint64
	}{{2, 1 << 20, 2}, {2, 20 * 4096, 10}, {18, 1 << 20, 18}, {1, 1 << 20, 18}, {40, 1 << 20, 29}} {
		l.Need(step.need, step.most)
		if err := l.DeleteRange(1, 29); err != nil {
			t.Fatal(err)
		}
		if first, _ := l.FirstIndex(); first != step.first {
			t.Errorf("%+v: the first entry is %d", step, first)
		}
	}
}

// TestFull_CLU14: a full disk is no damage: the same entries can be stored later. Not so while entries are being replaced.
func TestFull_CLU14(t *testing.T) {
	fs := vfs.NewMemory(1)
	failed := make(chan error, 1)
	l := open(t, fs, raftlog.Options{Size: 16 << 10, OnFailure: func(err error) { failed <- err }})
	defer l.Close()
	fs.SetCapacity(1)
	full := func() (n uint64) {
		t.Helper()
		for n = 1; n < 100; n++ {
			last, _ := l.LastIndex()
			if err := l.StoreLogs(entries(last+1, 1, 1, 5000)); errors.Is(err, vfs.ErrFull) {
				return last
			} else if err != nil {
				t.Fatal(err)
			}
		}
		t.Fatal("never full")
		return 0
	}
	last := full()
	fs.SetCapacity(1 << 40)
	if err := l.StoreLogs(entries(last+1, 1, 1, 5000)); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if err := check(l, entries(1, int(last)+1, 1, 5000)); err != nil {
		t.Error(err)
	}
	fs.SetCapacity(1)
	last = full()
	if err := l.DeleteRange(last, last); err != nil {
		t.Fatal(err)
	}
	if err := l.StoreLogs(entries(last, 4, 2, 5000)); !errors.Is(err, vfs.ErrFull) {
		t.Errorf("replacing entries: %v", err)
	}
	if err := <-failed; !errors.Is(err, vfs.ErrFull) {
		t.Error(err)
	}
}

// TestCrashes_CLU8: whatever a crash loses, all entries whose call has returned are there, and a torn tail is no damage.
func TestCrashes_CLU8(t *testing.T) {
	for seed := range uint64(300) {
		fs, random := vfs.NewMemory(seed), rand.New(rand.NewPCG(seed, 7))
		var stored, pending []*raft.Log // pending: of the call that the crash interrupted
		term := uint64(1)
		for range 4 {
			l := open(t, fs, raftlog.Options{Size: 24 << 10})
			last, _ := l.LastIndex()
			if len(pending) > 0 && last == pending[len(pending)-1].Index && check(l, from(l, through(stored, pending))) == nil {
				stored = through(stored, pending)
			}
			if err := check(l, from(l, stored)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			fs.CrashAfter(1 + random.IntN(60))
			stored, pending = work(l, random, &term, stored)
			_ = l.Close()
			fs.Crash()
		}
	}
}

// through returns the entries after a call that stores others.
func through(stored, more []*raft.Log) []*raft.Log {
	n := 0
	for n < len(stored) && stored[n].Index < more[0].Index {
		n++
	}
	return append(slices.Clone(stored[:n]), more...)
}

// from drops the entries before the first one of a log: files are removed as a whole.
func from(l *raftlog.Log, list []*raft.Log) []*raft.Log {
	first, _ := l.FirstIndex()
	for len(list) > 0 && list[0].Index < first {
		list = list[1:]
	}
	return list
}

func work(l *raftlog.Log, random *rand.Rand, term *uint64, stored []*raft.Log) (_, pending []*raft.Log) {
	for range 40 {
		next := uint64(1)
		if len(stored) > 0 {
			next = stored[len(stored)-1].Index + 1
		}
		switch first, _ := l.FirstIndex(); {
		case random.IntN(8) == 0 && next > first+3 && first > 0: // another leader
			*term++
			next -= uint64(1 + random.IntN(2))
			if l.DeleteRange(next, next+5) != nil {
				return stored, nil
			}
		case random.IntN(8) == 0 && next > first+10 && first > 0:
			if l.DeleteRange(first, next-5) != nil {
				return stored, nil
			}
			stored = from(l, stored)
		}
		pending = entries(next, 1+random.IntN(3), *term, 2+2*random.IntN(3000))
		if l.StoreLogs(pending) != nil {
			return stored, pending
		}
		stored, pending = through(stored, pending), nil
	}
	return stored, nil
}

// TestDamage_CLU8: every flipped bit in a stored entry is noticed, at the start or when the entry is read.
func TestDamage_CLU8(t *testing.T) {
	for at := int64(4096); at < 4096+3*4096; at += 61 {
		fs := vfs.NewMemory(1)
		l := open(t, fs, raftlog.Options{Size: 64 << 10})
		want := entries(1, 5, 1, 2000)
		for _, e := range want {
			if err := l.StoreLog(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := fs.Open("raft/0000000001.log")
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 1)
		if _, err := f.ReadAt(b, at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 4
		if _, err := f.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
		l, err = raftlog.Open(fs, "raft", raftlog.Options{Size: 64 << 10})
		if err != nil {
			if !errors.Is(err, raftlog.ErrDamaged) {
				t.Fatal(err)
			}
			continue
		}
		if err := check(l, want); err != nil {
			t.Errorf("offset %d: %v", at, err)
		}
		_ = l.Close()
	}
}

func TestDamage_MissingFile(t *testing.T) {
	fs := vfs.NewMemory(1)
	l := open(t, fs, raftlog.Options{Size: 16 << 10})
	for _, e := range entries(1, 30, 1, 3000) {
		if err := l.StoreLog(e); err != nil {
			t.Fatal(err)
		}
	}
	_ = l.Close()
	if err := fs.Remove("raft/0000000002.log"); err != nil {
		t.Fatal(err)
	}
	if _, err := raftlog.Open(fs, "raft", raftlog.Options{Size: 16 << 10}); !errors.Is(err, raftlog.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

func TestFailure_CLU8(t *testing.T) {
	fs := vfs.NewMemory(1)
	reported := make(chan error, 2)
	l := open(t, fs, raftlog.Options{OnFailure: func(err error) { reported <- err }})
	defer l.Close()
	fail := errors.New("broken")
	fs.Fail(func(o vfs.Operation) *vfs.Fault {
		if o.Kind == vfs.Sync {
			return &vfs.Fault{Err: fail}
		}
		return nil
	})
	for range 2 { // an error of the disk is final
		if err := l.StoreLogs(entries(1, 1, 1, 10)); !errors.Is(err, fail) {
			t.Errorf("got %v", err)
		}
		fs.Fail(nil)
	}
	if err := <-reported; !errors.Is(err, fail) || len(reported) > 0 {
		t.Errorf("reported %v, and %d more", err, len(reported))
	}
}

// slowFiles is a disk that takes until later to begin a file.
type slowFiles struct {
	vfs.FS
	begins, later chan struct{}
}

func (s slowFiles) Create(name string, size int64) (vfs.File, error) {
	s.begins <- struct{}{}
	<-s.later
	return s.FS.Create(name, size)
}

// TestLast_CLU13: the end of the log, which each heartbeat tells, is there while the disk takes its time to begin a file.
func TestLast_CLU13(t *testing.T) {
	s := slowFiles{vfs.NewMemory(1), make(chan struct{}), make(chan struct{})}
	opened := make(chan *raftlog.Log, 1)
	go func() { opened <- open(t, s, raftlog.Options{Size: 1 << 13, Kept: 1 << 12}) }()
	var l *raftlog.Log
	for l == nil {
		select {
		case l = <-opened:
		case <-s.begins:
			s.later <- struct{}{}
		}
	}
	stored := make(chan error, 1)
	var index uint64
	go func() {
		for index = 1; ; index++ {
			if err := l.StoreLogs(entries(index, 1, 1, 1000)); err != nil || index == 20 {
				stored <- err
				return
			}
		}
	}()
	<-s.begins // and a lock is held
	told := make(chan uint64, 1)
	go func() {
		_, last := l.Last()
		told <- last
	}()
	if last := <-told; last != index-1 { // otherwise it is never told
		t.Errorf("the log ends with entry %d, %d is being stored", last, index)
	}
	s.later <- struct{}{}
	for done := false; !done; {
		select {
		case err := <-stored:
			if done = true; err != nil {
				t.Error(err)
			}
		case <-s.begins:
			s.later <- struct{}{}
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestStored_CLU13: long groups count, too: the log is shortened by what was stored.
func TestStored_CLU13(t *testing.T) {
	l := open(t, vfs.NewMemory(1), raftlog.Options{})
	defer l.Close()
	for n, size := range []int{100, 9 << 20, 100} {
		before := l.Stored()
		if err := l.StoreLogs(entries(uint64(n+1), 1, 1, size)); err != nil {
			t.Fatal(err)
		}
		if got := l.Stored() - before; got < uint64(size) {
			t.Errorf("%d bytes count as %d", size, got)
		}
	}
	if all, last := l.Behind(0), l.Behind(2); all < 9<<20 || last < 100 || last > 9000 || l.Behind(3) != 0 {
		t.Errorf("%d bytes behind the beginning, %d behind entry 2, %d behind the last one", all, last, l.Behind(3))
	}
}
