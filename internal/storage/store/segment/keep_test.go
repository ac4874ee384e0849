package segment

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

const smallSegment = 64 << 10

// bubble runs a test with a file system in memory and virtual time.
func bubble(t *testing.T, test func(t *testing.T, fs *vfs.Memory)) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMemory(1)
		must(t, fs.MakeDir("/data"))
		test(t, fs)
	})
}

func TestEmptySegmentsAreRecycledWhereverTheyStand(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		j := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
		j.must(1, message(1, "stays"))
		body := strings.Repeat("x", 1000)
		for i := range uint64(50) {
			j.must(2, messages(i*100, i*100+99, body)...)
			j.must(2, run(store.Remove, i*100, i*100+99))
			if i%10 == 9 {
				time.Sleep(3 * time.Second)
			}
		}
		time.Sleep(10 * time.Second)
		s := j.Stats()
		if s.Segments > 3 || s.Live != 1 || s.Recycled < 50 || s.Bytes > 6*smallSegment || s.Commits.Count() != s.Batches {
			t.Fatalf("%+v", s)
		}
		fs.CrashAfter(0)
		_ = j.Close()
		fs.Crash()
		j = open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
		if got := j.Take(1); len(got) != 1 || len(j.Take(2)) != 0 || j.report.Messages != 1 {
			t.Fatalf("%v %+v", got, j.report)
		}
		j.close()
	})
}

// TestOtherSegmentSize: a journal can be opened with a shorter or longer segment size than its files have.
func TestOtherSegmentSize(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		body := strings.Repeat("z", 1000)
		for i, size := range []int64{4 * smallSegment, smallSegment, 16 * smallSegment, smallSegment, 2 * smallSegment} {
			j := open(t, fs, "/data/journal", Options{SegmentSize: size})
			first := uint64(i) * 200
			if got := j.Take(1); len(got) != 10*i {
				t.Fatalf("%d messages, want %d", len(got), 10*i)
			}
			j.must(1, messages(first, first+199, body)...)
			j.must(1, run(store.Remove, first, first+189))
			time.Sleep(10 * time.Second)
			if s := j.Stats(); s.Live != 10*(i+1) || s.Bytes > firstBound*(s.LiveBytes+2*size)+4*size+16*smallSegment { // longer files are kept
				t.Errorf("%d bytes: %+v", size, s)
			}
			j.close()
		}
	})
}

func TestStragglersAreMoved(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		j := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
		body := strings.Repeat("y", 1000)
		var kept []store.Record
		for i := range uint64(40) {
			list := messages(i*50, i*50+49, body)
			spill := message(100_000+i, body)
			spill.Kind = store.Spill
			j.must(1, append(list, spill)...)
			kept = append(kept, list[7])
			j.must(1, run(store.Delivered, i*50+7, i*50+7), run(store.Returned, i*50+7, i*50+7),
				run(store.Remove, i*50, i*50+6), run(store.Remove, i*50+8, i*50+49))
		}
		before := j.Stats()
		time.Sleep(20 * time.Second)
		s := j.Stats()
		if s.Moved < 60 || s.Bytes > firstBound*(s.LiveBytes+2*smallSegment)+4*smallSegment || s.Live != 80 || before.Segments > 4*3+8 {
			t.Fatalf("%+v, was %+v", s, before)
		}
		for i, c := range j.read(1, refs(kept)...) { // by their old positions
			if c.Err != nil || !same(c.Record, kept[i]) {
				t.Fatalf("%d: %v", c.Seq, c.Err)
			}
		}
		if got := j.recall(1); len(got) != 80 || got[3].Returns != 1 || !got[3].Redelivered {
			t.Fatalf("%d: %+v", len(got), got[3])
		}
		fs.CrashAfter(0)
		_ = j.Close()
		fs.Crash()
		j = open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
		got := j.Take(1)
		if len(got) != 40 || len(j.report.Damages) > 0 {
			t.Fatalf("%d, %+v", len(got), j.report)
		}
		for i, m := range got {
			if m.Seq != uint64(i*50+7) || m.Returns != 1 || !m.Redelivered {
				t.Fatalf("%+v", m)
			}
		}
		j.close()
	})
}

func TestFullDiskStallsAndGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		var reports []bool
		var mu sync.Mutex
		j := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment, OnFull: func(full bool) {
			mu.Lock()
			reports = append(reports, full)
			mu.Unlock()
		}, OnFailure: func(err error) { t.Error(err) }})
		leave(t, fs, 4*smallSegment)
		done := 0
		for i := range uint64(100) {
			j.Append(1, messages(i*10, i*10+9, strings.Repeat("z", 1000)), func(err error) {
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				done++
				mu.Unlock()
			})
		}
		time.Sleep(5 * time.Second)
		mu.Lock()
		if done == 0 || done == 100 || fmt.Sprint(reports) != "[true]" {
			t.Fatalf("%d done, OnFull was called with %v", done, reports)
		}
		mu.Unlock()
		fs.SetCapacity(1 << 30)
		time.Sleep(time.Second)
		mu.Lock()
		if done != 100 || fmt.Sprint(reports) != "[true false]" {
			t.Fatalf("%d done, OnFull was called with %v", done, reports)
		}
		mu.Unlock()
		j.close()
	})
}

func TestLongMessagesGetSegmentsOfTheirOwn(t *testing.T) {
	fs := vfs.NewMemory(1)
	must(t, fs.MakeDir("/data"))
	j := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
	long := make([]byte, 10*smallSegment)
	for i := range long {
		long[i] = byte(rand.Uint32())
	}
	var put []store.Record
	for i := range uint64(5) {
		m := message(i*2, "")
		m.Body = long[i:]
		put = append(put, j.must(3, m, message(i*2+1, "short"))...)
	}
	for i, c := range j.read(3, refs(put)...) {
		if c.Err != nil || !same(c.Record, put[i]) {
			t.Fatalf("%d: %v", c.Seq, c.Err)
		}
	}
	j.close()
	j = open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
	if got := j.Take(3); len(got) != 10 || int(got[2].Body) != len(long)-1 {
		t.Fatalf("%d", len(got))
	}
}

func TestThousandsOfQueues(t *testing.T) {
	fs := vfs.NewMemory(1)
	must(t, fs.MakeDir("/data"))
	j := open(t, fs, "/data/journal", Options{SegmentSize: 1 << 20})
	const queues = 5000
	var wait sync.WaitGroup
	for i := range 3 * queues {
		wait.Add(1)
		j.Append(store.QueueID(i%queues+1), messages(uint64(i/queues), uint64(i/queues), "body"), func(err error) {
			if err != nil {
				t.Error(err)
			}
			wait.Done()
		})
	}
	wait.Wait()
	j.must(77, run(store.Retire, 0, 0))
	j.close()
	j = open(t, fs, "/data/journal", Options{SegmentSize: 1 << 20})
	list := j.Queues()
	if len(list) != queues-1 || j.report.Messages != 3*(queues-1) || j.report.HighestQueue != queues {
		t.Fatalf("%d queues, %+v", len(list), j.report)
	}
	for _, q := range list {
		if got := seqs(j.Take(q)); len(got) != 3 || got[0] != 0 || got[2] != 2 {
			t.Fatalf("%d: %v", q, got)
		}
	}
}

func TestFanOutIsWrittenOnce(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		j := open(t, fs, "/data/journal", Options{})
		body := strings.Repeat("shared", 1000)
		m := message(1, body)
		var wait sync.WaitGroup
		var put [10][]store.Record
		j.log.Lock() // until all are appended: a body is shared only within a batch
		for q := range put {
			put[q] = []store.Record{m}
			wait.Add(1)
			j.Append(store.QueueID(q+1), put[q], func(error) { wait.Done() })
		}
		j.log.Unlock()
		wait.Wait()
		if s := j.Stats(); s.Written > 2*uint64(len(body)) {
			t.Errorf("%d bytes", s.Written)
		}
		j.close()
		j = open(t, fs, "/data/journal", Options{})
		for q := range put {
			id := store.QueueID(q + 1)
			if got := j.Take(id); len(got) != 1 || got[0].At != put[q][0].Position {
				t.Fatalf("%d: %+v", q, got)
			}
			if c := j.read(id, refs(put[q])...)[0]; c.Err != nil || !same(c.Record, m) {
				t.Fatalf("%d: %v", q, c.Err)
			}
		}
		j.close()
	})
}

func TestBytesOfRecycledFilesAreNotTaken(t *testing.T) {
	bubble(t, func(t *testing.T, m *vfs.Memory) {
		j := open(t, m, "/data/journal", Options{SegmentSize: smallSegment})
		for i := range uint64(30) { // equal batches, so that old ones are exactly where new ones are expected
			j.must(1, messages(i*40, i*40+39, strings.Repeat("r", 1000))...)
			j.must(1, run(store.Remove, i*40, i*40+39))
			time.Sleep(3 * time.Second)
		}
		if s := j.Stats(); s.Recycled < 20 {
			t.Fatalf("%+v", s)
		}
		j.must(1, message(5000, strings.Repeat("r", 1000)))
		j.kill(m)
		j = open(t, m, "/data/journal", Options{SegmentSize: smallSegment})
		if got := seqs(j.Take(1)); !slices.Equal(got, []uint64{5000}) || len(j.report.Damages) > 0 || j.report.TornTail > 0 {
			t.Fatalf("%v %+v", got, j.report)
		}
		j.close()
	})
}

func TestFullDiskFreesItself(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		j := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment, OnFailure: func(err error) { t.Error(err) }})
		leave(t, fs, 8*smallSegment)
		body := strings.Repeat("f", 1000)
		var wait sync.WaitGroup
		for i := range uint64(100) { // far more than fits, but all are removed
			wait.Add(1)
			j.Append(1, append(messages(i*10, i*10+9, body), run(store.Remove, i*10, i*10+9)), func(err error) {
				if err != nil {
					t.Error(err)
				}
				wait.Done()
			})
		}
		wait.Wait()
		if s := j.Stats(); s.Recycled < 8 {
			t.Errorf("%+v", s)
		}
		j.close()
	})
}

// TestNothingIsDurableBehindAFailure: an empty batch after a failed one fails, too: a checkpoint that waits for the
// empty batch includes changes of the failed one.
func TestNothingIsDurableBehindAFailure(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	failures, goOn := make(chan error), make(chan struct{})
	j := open(t, m, "/data/journal", Options{OnFailure: func(err error) { failures <- err; <-goOn }})
	j.must(1, message(1, "a"))
	broken := errors.New("broken")
	m.Fail(func(o vfs.Operation) *vfs.Fault {
		if o.Kind == vfs.Sync {
			return &vfs.Fault{Err: broken}
		}
		return nil
	})
	j.Append(1, messages(2, 2, "b"), func(error) {})
	if err := <-failures; !errors.Is(err, broken) {
		t.Fatal(err)
	}
	j.log.Lock() // a checkpoint taken now would include the second message
	done := j.log.endBatch()
	j.log.Unlock()
	close(goOn)
	if err := <-done; !errors.Is(err, broken) {
		t.Errorf("what comes behind a batch that failed: %v", err)
	}
	m.Fail(nil)
	_ = j.Close()
}
