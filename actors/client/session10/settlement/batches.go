package settlement

import (
	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"
)

// Batch is a set of messages with one outcome.
type Batch struct {
	Left     int          // messages without an outcome
	rejected amqp10.State // outcome of the first rejected message

	// For a batch published by a request that waits: the number of the request, the queue, and the queue's numbers of
	// all messages. Otherwise Queue is nil.
	Asked   uint64
	Queue   mail.Address
	Numbers []uint64
}

// Ends counts an outcome. If it is the last one, Ends returns true and sets *state to the outcome of the batch.
func (b *Batch) Ends(state *amqp10.State) bool {
	if state.Kind == amqp10.Rejected && b.rejected.Kind != amqp10.Rejected {
		b.rejected = amqp10.State{Kind: amqp10.Rejected, Error: state.Error}
	}
	if b.Left--; b.Left > 0 {
		return false
	}
	if b.rejected.Kind == amqp10.Rejected {
		*state = b.rejected
	}
	return true
}

// Numbered sets the queue's number of a message. The batch may be nil.
func (b *Batch) Numbered(queue mail.Address, at int32, number uint64) {
	if b.Counts() && mail.Same(b.Queue, queue) {
		b.Numbers[at] = number
	}
}

// Counts reports whether the numbers of the messages are needed. The batch may be nil.
func (b *Batch) Counts() bool { return b != nil && b.Queue != nil }

// Refused returns the error amqp:resource-limit-exceeded for a request whose messages have this outcome, nil if they
// are accepted.
func Refused(state *amqp10.State) error {
	if state.Kind == amqp10.Accepted {
		return nil
	}
	if state.Error != nil {
		return state.Error
	}
	return amqp10.Errorf(amqp10.ResourceLimitExceeded, "the queue refuses messages")
}
