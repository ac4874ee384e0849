package settlement

import (
	"slices"

	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/internal/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// Asked are deliveries of one queue that a client has settled, and waits to hear of whether it still held them.
type Asked struct {
	Queue   *unacked.Queue
	State   amqp10.State
	Numbers []uint64 // the queue's
	IDs     []uint32 // the deliveries'
}

// Take takes deliveries, by their tags, out of what is unacknowledged, by queue.
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

// Tell calls tell with answers for the deliveries: those that the queue did not hold any more, for which lost is asked in order, are rejected. A
// dead-lettering that has succeeded has no error, which clients would take for their own.
func (x *Asked) Tell(lost func(number uint64) bool, tell func(amqp10.Composite)) {
	told := Dispositions{Send: tell}
	gone := amqp10.State{Kind: amqp10.Rejected, Error: servicebus.ErrLockLost()}
	for i, id := range x.IDs {
		state := amqp10.State{Kind: x.State.Kind}
		if lost(x.Numbers[i]) {
			state = gone
		}
		told.Add(id, true, state)
	}
	told.Flush()
}
