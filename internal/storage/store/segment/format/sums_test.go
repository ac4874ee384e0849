package format

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestSumsOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, 70_000)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	checked := int64(0)
	s := newSums(b, &checked)
	for range 2000 {
		from := random.IntN(len(b) + 1)
		to := from + random.IntN(len(b)-from+1)
		seed := random.Uint32()
		if got, want := s.part(seed, from, to), crc32.Update(seed, Castagnoli, b[from:to]); got != want {
			t.Fatalf("%d to %d: %x, not %x", from, to, got, want)
		}
	}
}
