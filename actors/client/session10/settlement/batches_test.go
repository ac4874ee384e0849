package settlement

import (
	"testing"

	"candlemark/protocol/amqp10"
)

// The last outcome becomes the batch's: rejected, if any message was.
func TestEnds(t *testing.T) {
	for _, rejected := range []int{-1, 0, 1, 2} {
		b := &Batch{Left: 3}
		for i := range 3 {
			state := amqp10.State{Kind: amqp10.Accepted}
			if i == rejected {
				state = amqp10.State{Kind: amqp10.Rejected, Error: amqp10.Errorf(amqp10.NotAllowed, "why")}
			}
			ends := b.Ends(&state)
			if ends != (i == 2) || ends && (state.Kind == amqp10.Rejected) != (rejected >= 0) || ends && (Refused(&state) != nil) != (rejected >= 0) {
				t.Errorf("%d is rejected, after %d: %v, %v", rejected, i, ends, state)
			}
			if ends && rejected >= 0 && (state.Error == nil || state.Error.Condition != amqp10.NotAllowed) {
				t.Errorf("%d is rejected: the reason is lost: %v", rejected, state)
			}
		}
	}
}
