package storetest

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

// Crashing is a journal on files.
type Crashing struct {
	// Open opens a journal in the file system. failed and full are called as segment.Options.OnFailure and OnFull are.
	Open func(fs vfs.FS, failed func(error), full func(bool)) (store.Journal, error)
	// Lag is the longest time that a record without done may wait.
	Lag time.Duration
}

// DiskFault is the fault of the disk in a run, besides crashes.
type DiskFault uint8

// Kinds of faults.
const (
	NoFault    DiskFault = iota
	FullDisk             // there is no room for a while
	FailedSync           // one Sync fails, and later ones report success
	ShortWrite           // one write is incomplete
	FailedName           // a Create, Rename, Remove or SyncDir fails
	FailedRead           // some reads fail
	NoRoom               // for a while, some writes and syncs fail for lack of room, although it was reserved
)

// full reports whether Appends may wait for room, and fail if the journal is closed while they wait.
func (f DiskFault) full() bool { return f == FullDisk || f == NoRoom }

// DiskFaults are all kinds, by name.
var DiskFaults = map[string]DiskFault{
	"crashes": NoFault, "full disk": FullDisk, "failed sync": FailedSync, "short write": ShortWrite,
	"failed name": FailedName, "failed read": FailedRead, "no room": NoRoom,
}

// Run starts a journal several times, each time with random work and a crash at the end, all decided by the seed, and
// compares the remaining messages with a Model.
func (c Crashing) Run(t *testing.T, seed uint64, fault DiskFault) {
	synctest.Test(t, func(t *testing.T) {
		l := &life{
			T: t, c: c, fault: fault, fs: vfs.NewMemory(seed), random: rand.New(rand.NewPCG(seed, 1)),
			chance: rand.New(rand.NewPCG(seed, 2)),
			last:   map[store.QueueID]uint64{},
		}
		t.Cleanup(func() { // nothing of a failed run may stay in the bubble
			if l.j != nil {
				l.fs.CrashAfter(0)
				_ = l.j.Close()
			}
		})
		for range 2 + l.random.IntN(4) {
			if !l.open() {
				continue
			}
			l.work()
			l.end()
		}
		l.endFaults()
		if l.open() {
			l.settle()
			l.end()
		}
	})
}

// life of a journal between two crashes.
type life struct {
	*testing.T
	c      Crashing
	fault  DiskFault
	fs     *vfs.Memory
	random *rand.Rand
	chance *rand.Rand // of the disk, whose operations are in no fixed order
	j      store.Journal
	book   book
	last   map[store.QueueID]uint64 // last numbers given out
	lives  int
}

// open starts the process and compares. It reports whether there is a journal; the crash may come before.
func (l *life) open() bool {
	l.endFaults()
	if l.random.IntN(3) == 0 {
		l.fs.CrashAfter(l.random.IntN(1 << l.random.IntN(7)))
	}
	l.lives++
	l.book.begin()
	if l.fault == FailedRead && l.random.IntN(2) == 0 {
		l.planFaults()
	}
	j, err := l.c.Open(l.fs, l.book.fail, l.book.fill)
	if err != nil && l.fault == FailedRead && !l.fs.Crashed() {
		l.endFaults() // messages unreadable now are not lost
		l.book.begin()
		j, err = l.c.Open(l.fs, l.book.fail, l.book.fill)
	}
	if err != nil {
		if !l.fs.Crashed() {
			l.Fatalf("life %d: recovery failed: %v", l.lives, err)
		}
		l.fs.Crash()
		return false
	}
	l.j = j
	l.compare()
	if l.random.IntN(4) > 0 {
		l.fs.CrashAfter(l.random.IntN(1 << l.random.IntN(12)))
	}
	l.planFaults()
	return true
}

// compare compares the recovered messages with the model.
func (l *life) compare() {
	there := map[store.QueueID]bool{}
	for _, q := range l.j.Queues() {
		there[q] = true
	}
	l.book.mu.Lock()
	queues := l.book.model.Queues()
	l.book.mu.Unlock()
	names := l.j.Names()
	for _, q := range queues {
		list := l.j.Take(q)
		if len(list) > 0 && names[q] != NameOf(q) {
			l.Fatalf("life %d: queue %d has %d messages and its name is %q", l.lives, q, len(list), names[q])
		}
		if there[q] != (len(list) > 0) {
			l.Fatalf("life %d: queue %d has %d messages and is listed: %v", l.lives, q, len(list), there[q])
		}
		delete(there, q)
		if err := l.book.restart(q, list); err != nil {
			l.Fatalf("life %d: %v", l.lives, err)
		}
		l.last[q] = 0 // numbers of lost messages may be used again
		if len(list) > 0 {
			l.last[q] = list[len(list)-1].Seq
		}
		l.check(q, where(list), func(i int) store.Record { return Was(list[i], store.Put) })
	}
	if len(there) > 0 {
		l.Fatalf("life %d: queues of nobody: %v", l.lives, there)
	}
}

// check reads messages that must be there.
func (l *life) check(q store.QueueID, refs []store.Ref, want func(i int) store.Record) {
	done := make(chan []store.Content, 1)
	l.j.Read(q, refs, func(got []store.Content) { done <- got })
	for i, c := range wait(l.T, "read", done) {
		excused := c.Err != nil && !errors.Is(c.Err, store.ErrDamaged) && (l.fs.Crashed() || l.fault == FailedRead)
		if text := Same(c, want(i)); text != "" && !excused {
			l.Fatalf("life %d, queue %d: %s", l.lives, q, text)
		}
	}
}

// end ends the process, in most lives by a crash.
func (l *life) end() {
	if !l.fs.Crashed() && l.random.IntN(3) > 0 {
		l.fs.CrashAfter(0)
	}
	l.close()
	if l.fault == NoFault && l.random.IntN(3) == 0 {
		l.fs.Kill()
		return
	}
	l.fs.Crash()
}

// close closes the journal and checks that it has completed everything.
func (l *life) close() {
	if l.random.IntN(2) == 0 {
		l.fs.SetCapacity(1 << 40)
	}
	err := l.j.Close()
	if err != nil && !l.fs.Crashed() && !l.book.over() && l.fault == NoFault {
		l.Fatalf("life %d: close: %v", l.lives, err)
	}
	synctest.Wait()
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	if l.book.open > 0 {
		l.Fatalf("life %d: %d appends were never done", l.lives, l.book.open)
	}
	if l.book.complaint != "" {
		l.Fatalf("life %d: %s", l.lives, l.book.complaint)
	}
	if l.book.wrong != nil && !l.book.failed && !l.fs.Crashed() && (err == nil || !l.fault.full()) {
		l.Fatalf("life %d: append: %v", l.lives, l.book.wrong)
	}
	if err == nil && !l.fs.Crashed() && !l.book.failed {
		l.book.model.AllDurable()
	}
}
