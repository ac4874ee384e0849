package channel

import (
	"strings"
	"testing"

	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

func (r *rig) takesBack(queue string, first, last uint64) {
	r.t.Helper()
	r.turn(&mail.DeliveriesRequeued{Queue: pid(queue), Name: queue, Numbers: []mail.Range{{First: first, Last: last}}})
}

// has checks the number of late deliveries and of deliveries that count towards the limit.
func (r *rig) has(late, counted int) {
	r.t.Helper()
	if unacked, _ := r.queues.Unacked.Limit.Load(); r.queues.Unacked.Late() != late || unacked != counted {
		r.t.Errorf("%d late, %d counted, want %d and %d", r.queues.Unacked.Late(), unacked, late, counted)
	}
}

// TestReturned_ADR10: tags of requeued deliveries can still be settled, alone and with others; the queue receives the settlement
// and ignores it.
func TestReturned_ADR10(t *testing.T) {
	r := newRig(t)
	r.consumes("c", "q1")
	r.delivers("q1", "c", 1, "a", "b", "d", "e")
	r.received(concat(deliver("c", 1, "a"), deliver("c", 2, "b"), deliver("c", 3, "d"), deliver("c", 4, "e"))...)
	r.takesBack("q1", 2, 3)
	r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "c"})
	r.received("basic.cancel {ConsumerTag:c NoWait:true}")
	r.has(2, 2)
	r.command(&protocol.BasicAck{DeliveryTag: 2})
	r.sent("q1: settle 2-2 ack")
	r.command(&protocol.BasicNack{DeliveryTag: 4, Multiple: true, Requeue: true})
	r.sent("q1: settle 1-1 nack 3-4 nack")
	r.has(0, 0)
	if r.queues.Unacked.Len() != 0 {
		t.Errorf("%d open", r.queues.Unacked.Len())
	}
	r.command(&protocol.BasicAck{DeliveryTag: 2})
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - unknown delivery tag 2 Class:60 Method:80}")
}

// TestReturnedGlobalQos_ADR10: a requeued delivery does not count any more, so another message is allowed.
func TestReturnedGlobalQos_ADR10(t *testing.T) {
	r := newRig(t)
	r.command(global(2))
	r.frames()
	r.consumes("a", "q1")
	r.consumes("b", "q2")
	r.offers("a", 2)
	r.delivers("q1", "a", 1, "m1", "m2")
	r.offers("b", 5)
	r.sent("q1: allow 2")
	r.takesBack("q1", 1, 1)
	r.sent("q2: allow 1")
	r.command(&protocol.BasicAck{DeliveryTag: 1}) // late: frees nothing
	r.sent("q1: settle 1-1 ack")
}

// TestReturnedUnwritten_ADR10: deliveries requeued while they wait for room are not written, and leave no gap in the tags.
func TestReturnedUnwritten_ADR10(t *testing.T) {
	r := newRig(t, small)
	r.consumes("a", "q1")
	r.consumes("b", "q2")
	r.delivers("q1", "a", 1, "m1", "m2", "m3", "m4", "m5")
	r.delivers("q2", "b", 4, "n4", "n5")
	r.takesBack("q1", 1, 4)
	r.takesBack("q2", 4, 5)
	r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "a"})
	r.received(concat(deliver("a", 1, "m1"), deliver("a", 2, "m2"), deliver("a", 3, "m3"))...)
	r.ready()
	r.received(concat(deliver("a", 4, "m5"), "basic.cancel {ConsumerTag:a NoWait:true}")...)
	r.posts = nil
	r.command(&protocol.BasicAck{DeliveryTag: 4, Multiple: true})
	r.sent("q1: settle 1-3 ack 5-5 ack")
	if r.output.Len() != 0 || r.queues.Unacked.Late() != 0 {
		t.Errorf("%d held, %d late", r.output.Len(), r.queues.Unacked.Late())
	}
}

// TestReturnedInTransaction_ADR10: a delivery can also be requeued while its settlement waits for the commit.
func TestReturnedInTransaction_ADR10(t *testing.T) {
	r := transactional(t)
	r.command(&protocol.BasicAck{DeliveryTag: 2})
	r.takesBack("q1", 1, 3)
	r.has(3, 1)
	r.command(&protocol.TxRollback{}, &protocol.BasicAck{DeliveryTag: 3, Multiple: true}, &protocol.TxCommit{})
	r.sent("q1: store 1-3 ack")
	r.has(0, 1)
}

// TestReturnedForEver_ADR10: the channel of a client that never settles anything is closed at a limit.
func TestReturnedForEver_ADR10(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	for n := uint64(1); n <= unacked.LateLimit; n += 1000 {
		r.delivers("q1", "a", n, strings.Split(strings.Repeat("m", 1000), "")...)
		for b := r.cfg.Outbox.Take(); b != nil; b = r.cfg.Outbox.Take() {
			continue
		}
	}
	r.takesBack("q1", 1, unacked.LateLimit)
	r.has(unacked.LateLimit, 0)
	r.received()
	r.delivers("q1", "a", unacked.LateLimit+1, "m1")
	r.frames()
	r.takesBack("q9", unacked.LateLimit+1, unacked.LateLimit+1) // not a queue of this channel
	r.posts = nil
	r.takesBack("q1", unacked.LateLimit+1, unacked.LateLimit+1)
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - 100001 deliveries on channel 1 were not acknowledged in time}")
	if r.queues.Unacked.Late() != 0 {
		t.Errorf("%d are late in a channel that holds nothing", r.queues.Unacked.Late())
	}
}
