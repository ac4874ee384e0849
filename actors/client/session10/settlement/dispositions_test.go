package settlement

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/protocol/amqp10"
)

// The dispositions are the added ones, in order, in ranges.
func TestDispositions(t *testing.T) {
	var got strings.Builder
	dispositions := Dispositions{Send: func(p amqp10.Composite) {
		d := p.(*amqp10.Disposition)
		fmt.Fprintf(&got, "%d-%d %x %v, ", d.First, d.Last.Or(d.First), d.State.Kind, d.Settled)
	}}
	dispositions.Flush()
	for id := range uint32(100_000) {
		dispositions.Add(id, true, amqp10.State{Kind: amqp10.Accepted})
	}
	dispositions.Add(100_000, true, amqp10.State{Kind: amqp10.Rejected})
	dispositions.Add(100_001, false, amqp10.State{Kind: amqp10.Rejected})
	dispositions.Add(100_003, false, amqp10.State{Kind: amqp10.Rejected})
	dispositions.Flush()
	dispositions.Flush()
	if want := "0-99999 24 true, 100000-100000 25 true, 100001-100001 25 false, 100003-100003 25 false, "; got.String() != want {
		t.Errorf("%s, want %s", got.String(), want)
	}
}
