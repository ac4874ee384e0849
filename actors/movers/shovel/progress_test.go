package shovel

import (
	"math/rand/v2"
	"testing"
)

// sides plays source and destination.
type sides struct {
	*testing.T
	open map[uint64]bool // unsettled deliveries, and whether the destination has taken them
	tags []uint64        // unanswered publishes
}

func (s *sides) acknowledge(tag uint64, upTo bool) {
	for other, taken := range s.open {
		if other != tag && (!upTo || other > tag) {
			continue
		}
		if !taken {
			s.Fatalf("%d is acknowledged", other)
		}
		delete(s.open, other)
	}
}

func (s *sides) giveBack(tags []uint64) {
	for _, tag := range tags {
		if taken, open := s.open[tag]; taken || !open {
			s.Fatalf("%d is given back", tag)
		}
		delete(s.open, tag)
	}
}

// With any order of answers, only messages taken by the destination are acknowledged, refused ones are returned, each once, and
// exactly the requested number is moved.
func TestProgress(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		count, moved := int64(random.IntN(30)), int64(0)
		if random.IntN(2) == 0 {
			count = -1
		}
		s, p := &sides{T: t, open: map[uint64]bool{}}, newProgress(count)
		for tag := uint64(1); tag < 400; tag++ {
			switch what := random.IntN(5); {
			case what < 2 && p.open():
				s.open[tag], s.tags = false, append(s.tags, tag)
				p.take()
				p.publish(tag)
			case what == 2 && len(s.tags) > 0:
				taken := random.IntN(5) > 0
				s.open[s.tags[0]] = taken
				at, err := p.answer(p.answers+1, taken)
				if err != nil {
					t.Fatal(err)
				}
				if s.tags = s.tags[1:]; at != 0 {
					s.acknowledge(at, false)
				}
				if taken {
					moved++
				}
			case what == 3:
				if at := p.settle(); at != 0 {
					s.acknowledge(at, true)
				}
			case what == 4 && random.IntN(3) == 0:
				s.giveBack(p.takeUnsettled())
			}
			if count >= 0 && p.done() != (moved == count) || count >= 0 && moved > count {
				t.Fatalf("seed %d: %d of %d are moved", seed, moved, count)
			}
		}
		if _, err := p.answer(p.answers+2, true); err == nil {
			t.Error("an answer for what was not published")
		}
	}
}
