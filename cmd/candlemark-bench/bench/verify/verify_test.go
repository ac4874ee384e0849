package verify

import (
	"math/rand/v2"
	"testing"
)

func take(q *Queue, r *Reader, producer uint32, seqs ...uint64) {
	for _, seq := range seqs {
		q.Take(r, []ID{{Producer: producer, Seq: seq}})
	}
}

func TestFindings(t *testing.T) {
	for name, tc := range map[string]struct {
		any     bool
		seqs    []uint64
		want    Findings
		missing int64
	}{
		"all":          {false, []uint64{0, 1, 2, 3}, Findings{}, 0},
		"one lost":     {false, []uint64{0, 1, 3}, Findings{}, 1},
		"first lost":   {false, []uint64{1, 2, 3}, Findings{}, 1},
		"doubled":      {false, []uint64{0, 1, 1, 2, 3}, Findings{Doubled: 1}, 0},
		"much later":   {false, []uint64{0, 1, 2, 3, 0}, Findings{Doubled: 1}, 0},
		"out of order": {false, []uint64{0, 2, 1, 3}, Findings{Disordered: 1}, 0},
		"in any order": {true, []uint64{3, 2, 1, 0}, Findings{}, 0},
		"one for one":  {false, []uint64{0, 1, 1, 3}, Findings{Doubled: 1}, 1},
	} {
		q := &Queue{AnyOrder: tc.any}
		take(q, &Reader{}, 7, tc.seqs...)
		if got, _ := q.Findings(); got != tc.want || q.Missing(7, 4) != tc.missing || q.Missing(8, 5) != 5 || q.Came() != 4-tc.missing {
			t.Errorf("%s: %+v, %d missing", name, got, q.Missing(7, 4))
		}
		found, _ := q.Findings()
		if found.Lost = q.Missing(7, 4); found.OK() != (tc.want.OK() && tc.missing == 0) {
			t.Errorf("%s: OK is %v", name, found.OK())
		}
	}
}

// Each consumer of a queue has its own order; a message delivered to two of them is a duplicate.
func TestReaders(t *testing.T) {
	q := &Queue{}
	var a, b Reader
	take(q, &a, 1, 0, 3, 5)
	take(q, &b, 1, 1, 2, 4, 5)
	q.Take(&b, []ID{{Producer: 1, Seq: 0, Redelivered: true}})
	if got, redelivered := q.Findings(); got != (Findings{Doubled: 1}) || redelivered != 1 || q.Missing(1, 6) != 0 {
		t.Errorf("%+v, %d redelivered", got, redelivered)
	}
}

// The set needs one bit per number since the first missing one, for at most Window numbers.
func TestWindow(t *testing.T) {
	q := &Queue{AnyOrder: true}
	var r Reader
	for seq := uint64(1); seq < 3*Window; seq += 32 {
		q.Take(&r, []ID{{Producer: 1, Seq: seq}})
	}
	if n := len(q.from[1].words); n > 2*Window/64+1 {
		t.Errorf("%d words", n)
	}
	q.Take(&r, []ID{{Producer: 1, Seq: 0}}) // already outside the window, so it counts as a duplicate
	if got, _ := q.Findings(); got.Doubled != 1 {
		t.Errorf("%+v", got)
	}
	q.Take(&r, []ID{{Producer: 1, Seq: 1 << 60}, {Producer: 1, Seq: 1 << 60}})
	if got, _ := q.Findings(); got.Doubled != 2 {
		t.Errorf("%+v", got)
	}
}

// For random numbers the set equals a Go map.
func TestSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s seen
	known := map[uint64]bool{}
	for i := range uint64(100_000) {
		seq := i/2 + random.Uint64N(1000)
		if s.add(seq) == known[seq] {
			t.Fatalf("%d is new: %v", seq, !known[seq])
		}
		known[seq] = true
	}
	if s.count != int64(len(known)) {
		t.Errorf("%d, not %d", s.count, len(known))
	}
}
