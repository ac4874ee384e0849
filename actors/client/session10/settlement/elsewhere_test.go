package settlement

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"
)

// Each tag added is reported exactly once, when it is taken.
func TestElsewhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var e Elsewhere
		want := map[uint64]bool{}
		for range 100 {
			if tag := 1 + r.Uint64N(60); !want[tag] {
				want[tag] = true
				e.Add(tag)
			}
			first := 1 + r.Uint64N(60)
			last := first + r.Uint64N(4)
			lost, expected := "", ""
			for tag := first; tag <= last; tag++ {
				if want[tag] {
					expected += fmt.Sprint(tag, " ")
					delete(want, tag)
				}
			}
			found := e.Take(first, last, false, func(p amqp10.Composite) {
				d := p.(*amqp10.Disposition)
				for id := d.First; id <= d.Last.Value; id++ {
					lost += fmt.Sprint(id+1, " ")
				}
			})
			if lost != expected || found != (expected != "") {
				t.Fatalf("%d to %d: %q, want %q", first, last, lost, expected)
			}
		}
		n := 0
		for _, x := range e.ranges {
			n += int(x.Last - x.First + 1)
		}
		if n != len(want) || strings.Contains(fmt.Sprint(e.ranges), "{0") {
			t.Fatalf("%v, want %v", e.ranges, want)
		}
	}
}

// The number of ranges kept is limited; adjacent tags share a range.
func TestElsewhere_Bound(t *testing.T) {
	var e Elsewhere
	for tag := range uint64(1_000_000) {
		e.Add(tag + 1)
	}
	if len(e.ranges) != 1 || e.ranges[0] != (mail.Range{First: 1, Last: 1_000_000}) {
		t.Fatalf("%d ranges", len(e.ranges))
	}
	for tag := range uint64(3 * maxRanges) {
		e.Add(2_000_000 + 2*tag)
	}
	if len(e.ranges) != maxRanges || e.Take(1, 1, true, nil) {
		t.Errorf("%d ranges", len(e.ranges))
	}
}
