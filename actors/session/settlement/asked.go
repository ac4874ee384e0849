package settlement

import (
	"slices"

	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/internal/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// Asked holds deliveries of one queue that a client has settled, until the queue reports which of them it still held.
type Asked struct {
	Queue   *unacked.Queue
	State   amqp10.State
	Numbers []uint64 // the queue's numbers
	IDs     []uint32 // delivery ids
}

// Take removes deliveries, by their tags, from the unacked ones, and returns them by queue.
func Take(all *unacked.Deliveries, tags []uint64, state amqp10.State, how mail.Settlement) (asked []*Asked) {
	for _, tag := range tags {
		all.Take(tag, tag, func(_ uint64, u unacked.Delivery) {
			q, number := all.Account(u, how)
			i := slices.IndexFunc(asked, func(x *Asked) bool { return x.Queue == q })
			if i < 0 {
				i, asked = len(asked), append(asked, &Asked{Queue: q, State: state})
			}
			asked[i].Numbers, asked[i].IDs = append(asked[i].Numbers, number), append(asked[i].IDs, uint32(tag-1))
		})
	}
	return asked
}

// Report sends dispositions of the deliveries: deliveries that the queue no longer held, as reported in order by lost,
// are rejected. A successful dead-lettering is sent without the error, which clients would mistake for a failure.
func (x *Asked) Report(lost func(number uint64) bool, send func(amqp10.Composite)) {
	dispositions := Dispositions{Send: send}
	gone := amqp10.State{Kind: amqp10.Rejected, Error: servicebus.ErrLockLost()}
	for i, id := range x.IDs {
		state := amqp10.State{Kind: x.State.Kind}
		if lost(x.Numbers[i]) {
			state = gone
		}
		dispositions.Add(id, true, state)
	}
	dispositions.Flush()
}
