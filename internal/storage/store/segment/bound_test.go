package segment

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// bounded checks the length that durability.md promises: four times the sum of the live bytes and two segments, the
// next segment, and the spare files.
func (o *opened) bounded() {
	o.t.Helper()
	synctest.Wait() // the log shrinks after the live bytes
	s := o.Stats()
	if limit := lastBound*(s.LiveBytes+2*smallSegment) + (1+maxSpares)*smallSegment; s.Bytes > limit {
		o.t.Fatalf("%d bytes of journal, the bound is %d: %+v", s.Bytes, limit, s)
	}
}

// The log never exceeds its bound, however fast records are appended and however rarely the keeper would run by itself.
func TestLogIsBoundedUnderLoad(t *testing.T) {
	for name, c := range map[string]struct {
		each      int // every each-th message stays; 0: none
		long      int // body size of removed messages
		short     int // body size of messages that stay
		restarted bool
	}{
		"nothing stays":       {each: 0, long: 1000},
		"one in twenty":       {each: 20, long: 1000, short: 1000},
		"one in two":          {each: 2, long: 1000, short: 1000},
		"the small ones stay": {each: 2, long: 20_000, short: 10},
		"after a restart":     {each: 20, long: 1000, short: 1000, restarted: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fs *vfs.Memory) {
				o := Options{SegmentSize: smallSegment, Settle: time.Hour}
				j := open(t, fs, "/data/journal", o)
				seq, kept := uint64(0), 0
				for i := range 200 {
					var list []store.Record
					var gone []store.Record
					for range 40 {
						if seq++; c.each > 0 && seq%uint64(c.each) == 0 {
							list = append(list, message(seq, strings.Repeat("s", c.short)))
							kept++
							continue
						}
						list = append(list, message(seq, strings.Repeat("l", c.long)))
						gone = append(gone, run(store.Remove, seq, seq))
					}
					j.must(1, list...)
					j.bounded()
					j.must(1, gone...)
					j.bounded()
					if c.restarted && i%50 == 49 {
						j.kill(fs)
						j = open(t, fs, "/data/journal", o)
						j.bounded()
					}
				}
				if s := j.Stats(); s.Live != kept || c.each == 20 && !c.restarted && s.Recycled == 0 {
					t.Errorf("%d stay: %+v", kept, s)
				}
				if got := j.recall(1); len(got) != kept {
					t.Errorf("%d of %d", len(got), kept)
				}
				j.close()
			})
		})
	}
}

// leave leaves this many bytes free on a disk that had no limit.
func leave(t *testing.T, fs *vfs.Memory, bytes uint64) {
	t.Helper()
	free, err := fs.Free("/data")
	must(t, err)
	fs.SetCapacity(math.MaxInt64 - free + bytes)
}

// stranded makes a journal of full segments with few live messages each, on a disk without a free byte. It returns the
// number of these messages.
func stranded(t *testing.T, fs *vfs.Memory, o Options) (*opened, int) {
	j := open(t, fs, "/data/journal", o)
	body := strings.Repeat("y", 1000)
	last := uint64(0)
	for ; last < 2000; last += 50 {
		j.must(1, messages(last, last+49, body)...)
	}
	synctest.Wait()
	leave(t, fs, 0)
	for first := uint64(0); first < last; first += 50 {
		j.must(1, run(store.Remove, first, first+6), run(store.Remove, first+8, first+49))
	}
	return j, int(last / 50)
}

// unnamed restores the state after a crash in which the renaming of the oldest checkpoint to the spare file was not durable.
func unnamed(t *testing.T, fs *vfs.Memory) {
	names, err := fs.List("/data/journal")
	must(t, err)
	for _, name := range names { // sorted
		if n, ok := recovery.Numbered(name, "checkpoint-", ""); ok && slices.Contains(names, index.CheckpointSpare) {
			must(t, fs.Rename("/data/journal/"+index.CheckpointSpare, "/data/journal/"+index.CheckpointName(n-1)))
			must(t, fs.SyncDir("/data/journal"))
			return
		}
	}
}

// A full disk with few live messages frees itself, even if it has no free byte, and after a restart: a file is reserved
// for stragglers to be moved to, and one for checkpoints.
func TestFullDiskWithStragglersGoesOn(t *testing.T) {
	for _, restarted := range []string{"", "killed", "killed before a new name is durable"} {
		bubble(t, func(t *testing.T, fs *vfs.Memory) {
			o := Options{SegmentSize: smallSegment, Settle: time.Hour}
			j, live := stranded(t, fs, o)
			if restarted != "" {
				j.kill(fs)
				if restarted != "killed" {
					unnamed(t, fs)
					fs.Fail(func(o vfs.Operation) *vfs.Fault {
						if o.Kind == vfs.Create && strings.Contains(o.Name, index.CheckpointSpare) {
							return &vfs.Fault{Err: vfs.ErrFull}
						}
						return nil
					})
				}
				j = open(t, fs, "/data/journal", o)
				if got := len(j.Take(1)); got != live {
					t.Fatalf("%d of %d are back", got, live)
				}
			}
			for i := range uint64(20) { // more than fits into the last segment
				j.must(1, messages(10_000+i*10, 10_009+i*10, strings.Repeat("n", 1000))...)
			}
			time.Sleep(10 * time.Hour)
			s := j.Stats()
			if s.Live != live+200 || s.Bytes > lastBound*s.LiveBytes {
				t.Errorf("%q: %+v", restarted, s)
			}
			j.close()
			j = open(t, fs, "/data/journal", o)
			if got := len(j.Take(1)); got != live+200 {
				t.Errorf("%d of %d in the end", got, live+200)
			}
			j.close()
		})
	}
}

// On a disk that is full of live messages, acknowledgements can still be written, so that it can be drained, also after a crash.
func TestFullDiskCanBeDrained(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		o := Options{SegmentSize: smallSegment, Settle: time.Hour}
		j := open(t, fs, "/data/journal", o)
		for i := range uint64(40) {
			j.must(1, messages(i*50, i*50+49, strings.Repeat("y", 1000))...)
		}
		synctest.Wait()
		leave(t, fs, 0)
		j.kill(fs)
		j = open(t, fs, "/data/journal", o)
		if got := len(j.Take(1)); got != 2000 {
			t.Fatalf("%d are back", got)
		}
		for i := range uint64(2000) {
			j.must(1, run(store.Remove, i, i))
		}
		j.must(1, messages(5000, 5049, strings.Repeat("n", 1000))...)
		if s := j.Stats(); s.Live != 50 || s.Recycled < 20 {
			t.Errorf("%+v", s)
		}
		j.close()
	})
}

// A disk that becomes full before the first checkpoint has room for everything that is needed to free segments.
func TestFullDiskBeforeTheFirstCheckpoint(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		j := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment, Settle: time.Minute})
		synctest.Wait()
		leave(t, fs, 0)
		for i := range uint64(100) { // far more than fits, but all are removed
			j.must(1, append(messages(i*10, i*10+9, strings.Repeat("f", 1000)), run(store.Remove, i*10, i*10+9))...)
		}
		j.close()
	})
}

// The keeper does not delay Close, at any stage of its work.
func TestCloseInterruptsTheKeeper(t *testing.T) {
	for name, act := range map[string]func(*opened, *vfs.Memory){
		"resting": func(j *opened, _ *vfs.Memory) {
			for i := range uint64(10) {
				j.must(1, messages(i*50, i*50+49, strings.Repeat("y", 1000))...)
			}
			j.must(1, run(store.Remove, 0, 480))
			time.Sleep(time.Second)
		},
		"without room for what it moves": func(j *opened, fs *vfs.Memory) {
			fs.SetCapacity(1)
			for f, ok := j.stock.Take(1); ok; f, ok = j.stock.Take(1) { // as in the folder of an older version
				_ = fs.Remove(f.Name)
			}
			for i := range uint64(40) {
				j.Append(1, messages(10_000+i*50, 10_049+i*50, strings.Repeat("y", 1000)), func(error) {})
			}
			time.Sleep(time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fs *vfs.Memory) {
				j, _ := stranded(t, fs, Options{SegmentSize: smallSegment, Settle: time.Hour})
				act(j, fs)
				start := time.Now()
				_ = j.Close()
				if took := time.Since(start); took > time.Second {
					t.Errorf("the end took %v", took)
				}
			})
		})
	}
}

// A body shared by several queues is still written once when it is moved.
func TestSharedBodiesStaySharedWhenMoved(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		j := open(t, fs, "/data/journal", Options{SegmentSize: 1 << 20, Settle: time.Hour})
		body := []byte(strings.Repeat("shared", 10_000))
		const queues = 60
		for q := store.QueueID(1); q <= queues; q++ {
			m := message(1, "")
			m.Body = body
			j.Append(q, []store.Record{m}, nil)
		}
		j.must(100, messages(1, 900, strings.Repeat("y", 900))...)
		j.must(100, run(store.Remove, 1, 900))
		j.must(100, messages(1001, 1900, strings.Repeat("y", 900))...) // to begin another segment
		j.log.Lock()
		var first *index.Segment
		for _, s := range j.table.list() {
			if first == nil || s.Seq < first.Seq {
				first = s
			}
		}
		j.log.Unlock()
		before := j.Stats().Written
		must(t, j.vacate(first))
		if s := j.Stats(); s.Moved < queues || s.Written-before > 3*uint64(len(body)) {
			t.Errorf("%d bytes for one body of %d: %+v", s.Written-before, len(body), s)
		}
		j.close()
	})
}
