package settlement

import (
	"slices"

	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// Owned is the tag of an unacked delivery, and the link that has it.
type Owned[Link any] struct {
	Tag  uint64
	Link Link
}

// Asked holds deliveries of one queue that a client has settled, until the queue reports which of them it still held.
type Asked[Link any] struct {
	Queue   *unacked.Queue
	State   amqp10.State
	Numbers []uint64 // the queue's numbers
	IDs     []uint32 // delivery ids
	held    []held[Link]
}

// held is a delivery that the queue may refuse to settle.
type held[Link any] struct {
	Owned[Link]
	unacked.Unacked
}

// Take removes deliveries from the unacked ones, and returns them by queue.
func Take[Link any](all *unacked.Deliveries, owned []Owned[Link], state amqp10.State, how mail.Settlement) (asked []*Asked[Link]) {
	for _, o := range owned {
		all.Take(o.Tag, o.Tag, func(_ uint64, u unacked.Unacked) {
			q, number := all.Account(u, how)
			i := slices.IndexFunc(asked, func(x *Asked[Link]) bool { return x.Queue == q })
			if i < 0 {
				i, asked = len(asked), append(asked, &Asked[Link]{Queue: q, State: state})
			}
			x := asked[i]
			x.Numbers, x.IDs = append(x.Numbers, number), append(x.IDs, uint32(o.Tag-1))
			if how == mail.ToDeadLetters {
				x.held = append(x.held, held[Link]{o, u})
			}
		})
	}
	return asked
}

// Report sends dispositions of the deliveries: deliveries that the queue no longer held, as reported in order by lost,
// are rejected. A successful dead-lettering is sent without the error, which clients would mistake for a failure.
func (x *Asked[Link]) Report(lost func(number uint64) bool, send func(amqp10.Composite)) {
	gone := amqp10.State{Kind: amqp10.Rejected, Error: servicebus.ErrLockLost()}
	x.report(send, func(i int) amqp10.State {
		if lost(x.Numbers[i]) {
			return gone
		}
		return amqp10.State{Kind: x.State.Kind}
	})
}

// Refuse reports to the client that the queue has refused to settle the deliveries, and calls keep for each: it is
// unacked as before.
func (x *Asked[Link]) Refuse(why *amqp10.Error, send func(amqp10.Composite), keep func(o Owned[Link], u unacked.Unacked)) {
	refused := amqp10.State{Kind: amqp10.Rejected, Error: why}
	x.report(send, func(int) amqp10.State { return refused })
	for _, h := range x.held {
		keep(h.Owned, h.Unacked)
	}
}

// report sends the states of the deliveries.
func (x *Asked[Link]) report(send func(amqp10.Composite), stateOf func(i int) amqp10.State) {
	dispositions := Dispositions{Send: send}
	for i, id := range x.IDs {
		dispositions.Add(id, true, stateOf(i))
	}
	dispositions.Flush()
}
