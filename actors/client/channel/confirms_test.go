package channel

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

func TestConfirms_OverTheChannel(t *testing.T) {
	r := newRig(t)
	r.feed(publish("", "q1", "before"))
	r.command(&protocol.ConfirmSelect{NoWait: true})
	r.feed(publish("", "q1", "a"), publish("", "q1", "b"), publish("x", "both", "c"), publish("", "q2", "d"), publish("", "q1", "e"))
	r.sent("q1: enqueue before", "q1: enqueue a#1 b#2 c#3 e#5", "q2: enqueue c#3 d#4")
	r.received() // not before a queue has answered
	r.turn(&mail.EnqueueReply{Queue: pid("q1"), Ranges: []mail.Range{{First: 1, Last: 3}, {First: 5, Last: 5}}})
	r.received("basic.ack {DeliveryTag:2 Multiple:true}", "basic.ack {DeliveryTag:5}")
	r.turn(&mail.EnqueueReply{Queue: pid("q2"), Refused: true, Ranges: []mail.Range{{First: 3, Last: 3}}})
	r.received("basic.nack {DeliveryTag:3}") // one of its two queues refused it (DL-11)
	r.turn(&mail.EnqueueReply{Queue: pid("q2"), Ranges: []mail.Range{{First: 4, Last: 4}}})
	r.received("basic.ack {DeliveryTag:4}")
	r.turn(&mail.PeerGone{Who: pid("q1")}) // no answer is outstanding
	r.sent()
	r.balanced()
}

// An actor that answers on behalf of a queue names that queue; only a publish without any answer is an internal error.
func TestLEASE8_AnswerInTheQueuesPlace(t *testing.T) {
	for _, cause := range []mail.Cause{mail.Gone, mail.Failed} {
		r := newRig(t)
		r.command(&protocol.ConfirmSelect{NoWait: true})
		r.feed(publish("", "q1", "a"), publish("", "q1", "b"))
		_, reply := r.posts[0].Mail.(mail.Answerable).Answer(cause)
		r.posts = nil
		r.turn(reply)
		r.turn(&mail.PeerGone{Who: pid("q1")})
		r.sent()
		if cause == mail.Gone {
			r.received("basic.ack {DeliveryTag:2 Multiple:true}")
		} else {
			r.received("basic.nack {DeliveryTag:1}", "basic.nack {DeliveryTag:2}")
		}
		r.balanced()
	}
}
