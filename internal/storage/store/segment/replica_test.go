package segment_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"
)

// replicaRun applies random entries to the journal of a replica whose machine crashes.
type replicaRun struct {
	*testing.T
	fs     *vfs.Memory
	random *rand.Rand
	seqs   map[store.QueueID]uint64
	after  map[uint64]string // the contents after each entry
	lists  map[uint64]map[store.QueueID][]uint64
	live   map[store.QueueID][]uint64
}

func (r *replicaRun) describe() string {
	text := ""
	for q := range store.QueueID(4) {
		if len(r.live[q]) > 0 {
			text += fmt.Sprint(q, r.live[q], "\n")
		}
	}
	return text
}

// contents lists the messages of a journal in the same form.
func contents(t *testing.T, j *segment.Replica) string {
	t.Helper()
	type found struct {
		lists map[store.QueueID][]store.Recovered
		err   error
	}
	got := make(chan found, 1)
	j.Survey(func(lists map[store.QueueID][]store.Recovered, err error) { got <- found{lists, err} })
	f := <-got
	if f.err != nil {
		t.Fatal(f.err)
	}
	text := ""
	for q := range store.QueueID(4) {
		var seqs []uint64
		for _, m := range f.lists[q] {
			seqs = append(seqs, m.Seq)
		}
		if len(seqs) > 0 {
			text += fmt.Sprint(q, seqs, "\n")
		}
	}
	return text
}

// entry makes an entry: messages for several queues, some with bodies that fill a segment, and removals.
func (r *replicaRun) entry(number uint64) *segment.Entry {
	e := &segment.Entry{Number: number}
	for range 1 + r.random.IntN(4) {
		q := store.QueueID(r.random.IntN(4))
		var records []store.Record
		for range r.random.IntN(4) {
			r.seqs[q]++
			records = append(records, store.Record{
				Kind: store.Put, First: r.seqs[q], Last: r.seqs[q], Deadline: store.Never, TTL: -1, Body: make([]byte, r.random.IntN(6000)),
			})
			r.live[q] = append(r.live[q], r.seqs[q])
		}
		if n := len(r.live[q]); n > 2 {
			first := r.live[q][0]
			records = append(records, store.Record{Kind: store.Remove, First: first, Last: first, Why: store.Acked})
			r.live[q] = slices.Clone(r.live[q][1:])
		}
		e.Parts = append(e.Parts, segment.Part{Queue: q, Records: records})
	}
	return e
}

// TestReplicaCrashes_CLU3: after any crash the journal of a replica has whole entries, without a gap, and at least those before the last
// Settle.
func TestReplicaCrashes_CLU3(t *testing.T) {
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) {
			r := &replicaRun{
				T: t, fs: vfs.NewMemory(seed), random: rand.New(rand.NewPCG(seed, 3)), seqs: map[store.QueueID]uint64{},
				after: map[uint64]string{0: ""}, lists: map[uint64]map[store.QueueID][]uint64{}, live: map[store.QueueID][]uint64{},
			}
			settled := uint64(0)
			for round := range 5 {
				j, report, err := segment.OpenReplica(r.fs, "journal", segment.Options{SegmentSize: 64 << 10, Settle: time.Millisecond})
				if err != nil {
					t.Fatalf("seed %d, round %d: %v", seed, round, err)
				}
				if len(report.Damages) > 0 {
					t.Fatalf("seed %d, round %d: damage %+v", seed, round, report.Damages)
				}
				has := j.Applied()
				if has < settled {
					t.Fatalf("seed %d, round %d: it ends with entry %d, %d was settled", seed, round, has, settled)
				}
				if got := contents(t, j); got != r.after[has] {
					t.Fatalf("seed %d, round %d: after entry %d\n%swant\n%s", seed, round, has, got, r.after[has])
				}
				r.rewind(has)
				r.fs.CrashAfter(1 + r.random.IntN(80))
				settled = max(r.work(j, has), settled)
				_ = j.Close()
				r.fs.Crash()
			}
		})
	}
}

// rewind makes the model what it was after an entry: other entries follow than those that were lost.
func (r *replicaRun) rewind(has uint64) {
	r.live = map[store.QueueID][]uint64{}
	for q, list := range r.lists[has] {
		r.live[q] = slices.Clone(list)
	}
}

// note keeps the model as it is after an entry.
func (r *replicaRun) note(number uint64) {
	lists := map[store.QueueID][]uint64{}
	for q, list := range r.live {
		lists[q] = slices.Clone(list)
	}
	r.lists[number], r.after[number] = lists, r.describe()
}

// work applies entries until the disk fails, and returns the last settled one.
func (r *replicaRun) work(j *segment.Replica, number uint64) (settled uint64) {
	for range 30 {
		number++
		e := r.entry(number)
		r.note(number)
		done := make(chan error, 1)
		e.Parts = append(e.Parts, segment.Part{Done: func(err error) { done <- err }})
		j.Apply(e)
		if r.random.IntN(3) == 0 && <-done != nil {
			return settled
		}
		if r.random.IntN(8) == 0 {
			ok := make(chan error, 1)
			j.Settle(func(err error) { ok <- err })
			if <-ok != nil {
				return settled
			}
			settled = number
		}
	}
	return settled
}

// BenchmarkSurvey reads the metadata of a million messages, as a new leader of a cluster does.
func BenchmarkSurvey(b *testing.B) {
	j, _, err := segment.OpenReplica(vfs.OS, b.TempDir(), segment.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const entries, each = 1000, 1000
	for n := range uint64(entries) {
		records := make([]store.Record, each)
		for i := range records {
			seq := n*each + uint64(i) + 1
			records[i] = store.Record{Kind: store.Put, First: seq, Last: seq, Deadline: store.Never, TTL: -1, Body: make([]byte, 100)}
		}
		done := make(chan error, 1)
		j.Apply(&segment.Entry{Number: n + 1, Parts: []segment.Part{{Queue: 1, Records: records, Done: func(err error) { done <- err }}}})
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		got := make(chan error, 1)
		j.Survey(func(lists map[store.QueueID][]store.Recovered, err error) {
			if n := len(lists[1]); n != entries*each {
				err = fmt.Errorf("%d messages", n)
			}
			got <- err
		})
		if err := <-got; err != nil {
			b.Fatal(err)
		}
	}
	_ = j.Close()
}
