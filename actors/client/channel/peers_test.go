package channel

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// A publish can be sent just after a queue's end, so that the answer given on the queue's behalf arrives after the notification
// of the end.
func TestLEASE8_AnswerBehindTheEndOfAQueue(t *testing.T) {
	r := newRig(t)
	r.command(&protocol.ConfirmSelect{})
	r.received("confirm.select-ok")
	r.feed(publish("", "q1", "late"))
	r.sent("q1: enqueue late#1")
	r.turn(&mail.PeerGone{Who: pid("q1")})
	r.sent("self: peergone")
	r.turn(&mail.EnqueueReply{Queue: pid("q1"), Ranges: []mail.Range{{First: 1, Last: 1}}})
	r.received("basic.ack {DeliveryTag:1}")
	r.turn(&mail.PeerGone{Who: pid("q1")})
	r.sent()
	r.received()
	r.feed(publish("", "q1", "never answered"))
	r.sent("q1: enqueue never answered#2")
	r.turn(&mail.PeerGone{Who: pid("q1")})
	r.sent("self: peergone")
	r.turn(&mail.PeerGone{Who: pid("q1")})
	r.sent("connection: 541 0/0 INTERNAL_ERROR - queue process ended without confirming 1 messages")
}
