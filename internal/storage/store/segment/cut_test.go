package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

// copyTo writes a cut into a folder and releases it.
func (c *Cut) copyTo(t *testing.T, fs vfs.FS, dir string) {
	t.Helper()
	must(t, fs.MakeDir(dir))
	for _, f := range c.Files {
		b, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
		must(t, err)
		to, err := fs.Create(dir+"/"+f.Name, f.Size)
		must(t, err)
		_, err = to.WriteAt(b, 0)
		must(t, errors.Join(err, to.Sync(), to.Close()))
		f.Release()
	}
	must(t, fs.SyncDir(dir))
}

const cutQueues = 3

// cutLoad publishes and removes messages in several queues.
type cutLoad struct {
	turns     chan struct{} // receives once for each message
	mu        sync.Mutex
	put, gone [cutQueues]uint64 // all numbers from 1 below these are durable
}

// run is the load of one queue, until stop is closed.
func (l *cutLoad) run(j *opened, seed uint64, q int, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(seed, uint64(q)))
	id := store.QueueID(q + 1)
	j.must(id, store.Naming(store.Name{VHost: "/", Queue: fmt.Sprint("q", q)}))
	for n := uint64(1); ; n++ {
		select {
		case <-stop:
			return
		case l.turns <- struct{}{}:
		}
		j.must(id, message(n, strings.Repeat(fmt.Sprint(q, n), 1+random.IntN(600))))
		l.mu.Lock()
		l.put[q] = n + 1
		settle := l.gone[q]
		l.mu.Unlock()
		if settle+20 < n {
			settle += uint64(random.IntN(20))
			j.must(id, run(store.Remove, 0, settle))
			l.mu.Lock()
			l.gone[q] = settle + 1
			l.mu.Unlock()
		}
	}
}

func (l *cutLoad) now() (put, gone [cutQueues]uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.put, l.gone
}

// TestCut: while messages are published and settled, and segments are freed, moved and recycled, a copy of the journal
// is its state at one moment. It has all messages that were durable before and none that was removed before, each once
// and readable, also after a crash of the copy.
func TestCut(t *testing.T) {
	for seed := range uint64(8) {
		m := vfs.NewMemory(seed)
		must(t, m.MakeDir("/data"))
		j := open(t, m, "/data/journal", Options{SegmentSize: 64 << 10, Settle: 1})
		stop := make(chan struct{})
		var working sync.WaitGroup
		load := &cutLoad{turns: make(chan struct{}), put: [cutQueues]uint64{1, 1, 1}}
		for q := range cutQueues {
			working.Go(func() { load.run(j, seed, q, stop) })
		}
		for range 10 {
			for range 200 {
				<-load.turns
			}
			done := make(chan struct{})
			go func() { // keeps the load running
				for {
					select {
					case <-load.turns:
					case <-done:
						return
					}
				}
			}()
			kept, left := load.now()
			c, err := j.Cut()
			must(t, err)
			upTo, settled := load.now() // limits of what the cut may contain, besides appends in progress
			other := vfs.NewMemory(seed)
			c.copyTo(t, other, "/journal")
			checkCut(t, other, "/journal", c.Messages, kept[:], left[:], upTo[:], settled[:])
			close(done)
		}
		close(stop)
		working.Wait()
		if n := j.Stats(); n.Recycled == 0 {
			t.Error("no segment was used again")
		}
		j.close()
	}
}

func checkCut(t *testing.T, m *vfs.Memory, dir string, count int, kept, left, upTo, settled []uint64) {
	t.Helper()
	for _, crash := range []bool{false, true} {
		copied := open(t, m, dir, Options{SegmentSize: 64 << 10})
		if len(copied.report.Damages) > 0 || copied.report.TornTail > 0 || !crash && (!copied.report.Clean || copied.report.Messages != count) {
			t.Fatalf("%d messages: %+v", count, copied.report)
		}
		for q := range kept {
			id := store.QueueID(q + 1)
			list := copied.Take(id)
			var numbers []uint64
			var want []store.Ref
			for _, one := range list {
				numbers = append(numbers, one.Seq)
				want = append(want, store.Ref{Seq: one.Seq, At: one.At})
			}
			if len(numbers) == 0 && kept[q] == 1 { // its goroutine has not run yet
				continue
			}
			// One append per queue may have been in progress.
			first, last := numbers[0], numbers[len(numbers)-1] // numbers is empty only before the first message
			if len(numbers) != int(last-first+1) || first < max(left[q], 1) || first > settled[q]+20 || last+1 < kept[q] || last > upTo[q] {
				t.Fatalf("queue %d: %d to %d, %d messages; durable before: %d to %d, after: %d to %d", q, first, last, len(numbers), left[q], kept[q], settled[q], upTo[q])
			}
			for i, c := range copied.read(id, want...) {
				if c.Err != nil || !bytes.HasPrefix(c.Record.Body, fmt.Append(nil, q, numbers[i])) {
					t.Fatalf("queue %d, message %d: %v %.20q", q, numbers[i], c.Err, c.Record.Body)
				}
			}
			if copied.Names()[id] != (store.Name{VHost: "/", Queue: fmt.Sprint("q", q)}) {
				t.Fatalf("names %v", copied.Names())
			}
		}
		copied.must(9, message(1, "the journal goes on"))
		if copied.must(9, run(store.Remove, 1, 1)); !crash {
			copied.kill(m)
		} else {
			copied.close()
		}
	}
}

// TestCutOfNothing: a new or empty journal can be cut; a closed or failed one cannot.
func TestCutOfNothing(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
	for round := range 2 {
		c, err := j.Cut()
		must(t, err)
		dir := fmt.Sprintf("/copy%d/journal", round)
		c.copyTo(t, m, dir)
		copied := open(t, m, dir, Options{})
		if len(copied.Queues()) != 0 || len(copied.report.Damages) > 0 || c.Messages != 0 || len(c.Files) != 2 {
			t.Errorf("%d files, %+v", len(c.Files), copied.report)
		}
		copied.must(1, message(1, "a"))
		copied.close()
		j.must(1, append(messages(1, 10, "a"), run(store.Remove, 1, 10))...)
	}
	j.close()
	if _, err := j.Cut(); !errors.Is(err, store.ErrClosed) {
		t.Error(err)
	}
	failing := open(t, m, "/data/other", Options{SegmentSize: 64 << 10})
	failing.must(1, message(1, "a"))
	m.Fail(func(o vfs.Operation) *vfs.Fault {
		if o.Kind == vfs.Sync {
			return &vfs.Fault{Err: errors.New("broken")}
		}
		return nil
	})
	failing.Append(1, messages(2, 2, "a"), nil)
	failing.log.Lock()
	failing.gather()
	failing.log.Unlock()
	for range 2 { // first while the journal fails, then after it has failed
		if _, err := failing.Cut(); err == nil {
			t.Error("a journal that has failed")
		}
	}
	m.Fail(nil)
}

// TestCutWaitsForNoRoom: on a full disk, while appends wait, the journal can be cut. Close waits until the files of the cut are released.
func TestCutWaitsForNoRoom(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	m.SetCapacity(2 << 20)
	full := make(chan bool, 10)
	j := open(t, m, "/data/journal", Options{SegmentSize: 256 << 10, OnFull: func(is bool) { full <- is }})
	var waits []chan error
	for n := uint64(1); len(full) == 0 || n < 100; n++ {
		wait := make(chan error, 1)
		waits = append(waits, wait)
		j.Append(1, messages(n, n, strings.Repeat("a", 60_000)), func(err error) { wait <- err })
	}
	for _, wait := range waits[:5] {
		must(t, <-wait)
	}
	durable := 5 + slices.IndexFunc(waits[5:], func(w chan error) bool { return len(w) == 0 })
	c, err := j.Cut()
	must(t, err)
	if c.Messages < durable {
		t.Errorf("%d messages in the cut, %d were durable before", c.Messages, durable)
	}
	closed := make(chan struct{})
	go func() {
		_ = j.Close()
		close(closed)
	}()
	for i, f := range c.Files {
		if _, err := io.Copy(io.Discard, io.NewSectionReader(f, 0, f.Size)); err != nil {
			t.Error(i, err)
		}
	}
	select {
	case <-closed:
		t.Error("it was closed before the files were released")
	default:
	}
	for _, f := range c.Files {
		f.Release()
	}
	<-closed
}

// TestCutOnce_DUR6: as long as a message is stored, its copies in other queues are not in a cut, even if they are
// put again, nor the copies of these; later each is.
func TestCutOnce_DUR6(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := open(t, m, "/data/journal", Options{SegmentSize: 64 << 10, Settle: 1})
	copyOf := func(q store.QueueID, seq uint64) store.Record {
		r := message(1, fmt.Sprint("copy of ", q, " ", seq))
		r.Origin = store.Origin{Queue: q, Seq: seq}
		return r
	}
	has := func(want ...int) {
		t.Helper()
		c, err := j.Cut()
		must(t, err)
		other := vfs.NewMemory(1)
		n := c.Messages
		c.copyTo(t, other, "/journal")
		k := open(t, other, "/journal", Options{SegmentSize: 64 << 10})
		var got []int
		for q := range store.QueueID(5) {
			if list := k.Take(q); len(list) > 0 {
				got = append(got, int(q))
				if c := k.read(q, store.Ref{Seq: list[0].Seq, At: list[0].At}); len(list) != 1 || c[0].Err != nil {
					t.Errorf("queue %d has %d, %v", q, len(list), c[0].Err)
				}
			}
		}
		k.close()
		if n != len(want) || !slices.Equal(got, want) {
			t.Errorf("%d messages in %v, want %v", n, got, want)
		}
	}
	j.must(1, message(1, "original"))
	j.must(2, copyOf(1, 1))
	j.must(3, copyOf(1, 1))
	has(1)
	again := message(1, "amended by a consumer")
	again.Again = true
	j.must(3, again)
	has(1)
	j.must(4, copyOf(2, 1)) // dead-lettered further
	has(1)
	j.must(2, run(store.Remove, 1, 1))
	has(1)
	j.must(1, run(store.Remove, 1, 1))
	has(3, 4)
	j.close()
}
