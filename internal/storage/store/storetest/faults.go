package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

// errDisk is the error of a faulty disk.
var errDisk = errors.New("the disk is faulty")

// endFaults ends the disk's faults.
func (l *life) endFaults() {
	l.fs.Fail(nil)
	l.fs.SetCapacity(1 << 40)
}

// planFaults prepares the disk's faults for a life.
func (l *life) planFaults() {
	at := l.fs.Operations() + l.random.IntN(1<<l.random.IntN(9))
	written := l.random.IntN(3000)
	hit := false
	once := func(f vfs.Fault, kinds ...vfs.Kind) func(vfs.Operation) *vfs.Fault {
		return func(o vfs.Operation) *vfs.Fault {
			if hit || o.Number <= at || !slices.Contains(kinds, o.Kind) {
				return nil
			}
			hit = true
			return &f
		}
	}
	switch l.fault {
	case NoFault:
	case FullDisk:
		free, _ := l.fs.Free(".")
		l.fs.SetCapacity(1<<40 - free + l.random.Uint64N(1<<l.random.IntN(22)))
	case FailedSync:
		l.fs.Fail(once(vfs.Fault{Err: errDisk}, vfs.Sync))
	case ShortWrite:
		l.fs.Fail(once(vfs.Fault{Err: errDisk, Written: written}, vfs.Write))
	case FailedName:
		l.fs.Fail(once(vfs.Fault{Err: errDisk}, vfs.Create, vfs.Rename, vfs.Remove, vfs.SyncDir))
	case NoRoom:
		left := 1 + l.random.IntN(1<<l.random.IntN(6))
		l.fs.Fail(func(o vfs.Operation) *vfs.Fault {
			if o.Number <= at || left == 0 || !slices.Contains([]vfs.Kind{vfs.Write, vfs.Sync, vfs.Rename, vfs.SyncDir, vfs.Remove}, o.Kind) || l.chance.IntN(4) == 0 {
				return nil
			}
			left--
			return &vfs.Fault{Err: vfs.ErrFull, Written: l.chance.IntN(3000)}
		})
	case FailedRead:
		n := 0
		l.fs.Fail(func(o vfs.Operation) *vfs.Fault {
			if o.Kind != vfs.Read || o.Length == 0 {
				return nil
			}
			if n++; n%(1+written%17) > 0 {
				return nil
			}
			return &vfs.Fault{Err: errDisk}
		})
	}
}

// book records the promises of the journal, through functions that the journal calls.
type book struct {
	mu        sync.Mutex
	model     Model
	positions map[store.QueueID]map[uint64]entry
	open      int // unfinished appends
	made      map[store.QueueID]int
	next      map[store.QueueID]int // the append of each queue that is to be done next
	failed    bool                  // the journal reported it
	full      bool
	wrong     error  // the first error of an append
	complaint string // about the journal, made in its own goroutine
}

// entry is a message that was put.
type entry struct {
	at     store.Position
	record store.Record
}

// begin resets the book for a new process.
func (b *book) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.positions = map[store.QueueID]map[uint64]entry{}
	b.made, b.next = map[store.QueueID]int{}, map[store.QueueID]int{}
	b.open, b.failed, b.full, b.wrong, b.complaint = 0, false, false, nil, ""
}

func (b *book) fail(error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed {
		b.complaint = "failed twice"
	}
	b.failed = true
}

func (b *book) fill(full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.full = full
}

func (b *book) isFull() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full
}

// over reports whether this journal cannot be used any more.
func (b *book) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

func (b *book) restart(q store.QueueID, list []store.Recovered) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.model.Restart(q, list); err != nil {
		return err
	}
	for _, m := range list {
		b.note(q, m.At, Was(m, store.Put))
	}
	return nil
}

func (b *book) note(q store.QueueID, at store.Position, r store.Record) {
	if b.positions[q] == nil {
		b.positions[q] = map[uint64]entry{}
	}
	b.positions[q][r.First] = entry{at, r}
}

// known returns messages that were put and that no appended record removes, with their first positions.
func (b *book) known(q store.QueueID) (refs []store.Ref, want []store.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.model.Now(q)
	for seq, e := range b.positions[q] {
		if m, ok := now[seq]; ok && m.Time == e.record.Time && int(m.Body) == len(e.record.Body) {
			refs, want = append(refs, store.Ref{Seq: seq, At: e.at}), append(want, e.record)
		}
		if len(refs) == 20 {
			break
		}
	}
	return refs, want
}

// done records an append and returns the function for the journal to call. The model knows the records already.
func (b *book) done(q store.QueueID, records []store.Record, waits bool) func(error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !waits {
		return nil
	}
	mark := b.model.Append(q)
	b.open++
	turn := b.made[q]
	b.made[q]++
	called := false
	return func(err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if called || b.next[q] != turn {
			b.complaint = fmt.Sprintf("queue %d: append %d done before %d, or twice: %v", q, turn, b.next[q], called)
		}
		called, b.next[q] = true, turn+1
		b.open--
		switch {
		case err == nil && b.wrong != nil:
			b.complaint = "an append succeeded behind a failed one"
		case err == nil:
			b.model.Durable(q, mark)
			for _, r := range records {
				if r.Kind <= store.Spill {
					b.note(q, r.Position, r)
				}
			}
		case b.wrong == nil:
			b.wrong = err
		}
	}
}
