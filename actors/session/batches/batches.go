package batches

import (
	"candlemark/actors/mail"
	"candlemark/protocol/amqp10"
)

// Batch is several messages that have one outcome.
type Batch struct {
	Left     int  // messages without an outcome
	rejected bool // one was

	// Of one that a request published, which waits: the number of the request, the queue, and the numbers that this has given the
	// messages, with room for all of them. Else Queue is nil.
	Asked   uint64
	Queue   mail.Address
	Numbers []uint64
}

// Ends counts an outcome; true: it was the last, and state becomes that of the batch.
func (b *Batch) Ends(state *amqp10.State) bool {
	b.rejected = b.rejected || state.Kind == amqp10.Rejected
	if b.Left--; b.Left > 0 {
		return false
	}
	if b.rejected {
		*state = amqp10.State{Kind: amqp10.Rejected, Error: state.Error}
	}
	return true
}

// Numbered notes the number that a queue has given a message of the batch, which may be nil.
func (b *Batch) Numbered(queue mail.Address, at int32, number uint64) {
	if b.Counts() && b.Queue.Equal(queue) {
		b.Numbers[at] = number
	}
}

// Counts tells whether somebody asks for the numbers of the messages. The batch may be nil.
func (b *Batch) Counts() bool { return b != nil && b.Queue != nil }

// Refused is the error of a request whose messages have this outcome, nil if they are accepted: amqp:resource-limit-exceeded.
func Refused(state *amqp10.State) error {
	if state.Kind == amqp10.Accepted {
		return nil
	}
	if state.Error != nil {
		return state.Error
	}
	return amqp10.Errorf(amqp10.ResourceLimitExceeded, "the queue refuses messages")
}
