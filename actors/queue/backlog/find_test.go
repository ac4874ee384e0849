package backlog

import (
	"math/rand/v2"
	"testing"
)

// TestFind_DLY11 looks up messages, existing and removed, while others are pushed and removed.
func TestFind_DLY11(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var b Findable
	there, seq := map[uint64]Handle{}, uint64(100)
	var seqs []uint64
	for step := range 60_000 {
		if coming := step/5000%2 == 0; r.IntN(10) < 3 != coming || len(there) == 0 {
			seq += 1 + r.Uint64N(3)
			m := *small()
			m.Seq, m.Priority = seq, uint8(r.IntN(3))
			there[seq] = b.Push(&m)
			seqs = append(seqs, seq)
		} else {
			i := r.IntN(len(seqs))
			b.Backlog.Remove(there[seqs[i]])
			delete(there, seqs[i])
			seqs[i] = seqs[len(seqs)-1]
			seqs = seqs[:len(seqs)-1]
		}
		look := r.Uint64N(seq + 10)
		if len(seqs) > 0 && step%2 == 0 {
			look = seqs[r.IntN(len(seqs))]
		}
		h, ok := b.Find(look)
		if want, is := there[look]; ok != is || h != want {
			t.Fatalf("step %d: %d is %d, %v; want %d, %v", step, look, h, ok, want, is)
		}
	}
	if n := cap(b.places[0]); n > 10_000 {
		t.Errorf("%d places are remembered", n)
	}
}
