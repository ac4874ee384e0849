package channel

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// transactional is a channel in a transaction, with three deliveries of q1 and
// one of q2.
func transactional(t *testing.T) *rig {
	r := newRig(t)
	r.command(&protocol.TxSelect{}, &protocol.TxSelect{})
	r.received("tx.select-ok", "tx.select-ok")
	r.consumes("a", "q1")
	r.consumes("b", "q2")
	r.delivers("q1", "a", 1, "m1", "m2", "m3")
	r.delivers("q2", "b", 1, "m4")
	r.frames()
	return r
}

func TestTx_CommitPublishesThenSettlesThenAnswers(t *testing.T) {
	r := transactional(t)
	big := strings.Repeat("b", 5000)
	r.feed(publish("", "q1", "one"), publish("x", "both", "two"), frame(&protocol.BasicAck{DeliveryTag: 2}),
		content(&protocol.BasicPublish{Exchange: "void", Mandatory: true}, "back"), publish("void", "", "dropped"))
	r.feed(publish("", "q2", big), frame(&protocol.BasicNack{DeliveryTag: 1}))
	r.sent()
	r.received()
	r.balanced() // uncommitted messages are copied out of the read, so they hold no chunk
	r.feed(frame(&protocol.TxCommit{}), publish("", "q1", "next"), frame(&protocol.BasicAck{DeliveryTag: 3}))
	r.sent("q1: enqueue one#1 two#2", "q2: enqueue two#2 "+big+"#5", "q1: store 2-2 ack 1-1 discard")
	r.received("basic.return {ReplyCode:312 ReplyText:NO_ROUTE Exchange:void}", "header 4", "body back")
	r.turn(&mail.EnqueueReply{Queue: pid("q2"), Ranges: []mail.Range{{First: 2, Last: 2}, {First: 5, Last: 5}}})
	r.turn(&mail.EnqueueReply{Queue: pid("q1"), Ranges: []mail.Range{{First: 1, Last: 1}}})
	r.received()
	r.turn(&mail.EnqueueReply{Queue: pid("q1"), Ranges: []mail.Range{{First: 2, Last: 2}}})
	r.received()
	r.turn(&mail.SettleReply{})
	r.received("tx.commit-ok")
	r.sent()
	r.command(&protocol.TxCommit{})
	r.sent("q1: enqueue next#6", "q1: store 3-3 ack")
	r.turn(&mail.SettleReply{})
	r.turn(&mail.SettleReply{})                                                             // an old answer, repeated
	r.turn(&mail.EnqueueReply{Queue: pid("q1"), Ranges: []mail.Range{{First: 1, Last: 6}}}) // an old answer, repeated
	r.received()
	r.turn(&mail.EnqueueReply{Queue: pid("q1"), Ranges: []mail.Range{{First: 6, Last: 6}}})
	r.received("tx.commit-ok")
	r.command(&protocol.TxCommit{}) // an empty transaction
	r.received("tx.commit-ok")
	r.turn(&mail.PeerGone{Who: pid("q1")}) // no answer is outstanding
	r.received("basic.cancel {ConsumerTag:a NoWait:true}")
	r.balanced()
}

// The route is that at the publish, as in RabbitMQ: a queue deleted before the commit counts as having taken and discarded the
// message.
func TestTx_TheRouteIsThatOfThePublish(t *testing.T) {
	r := newRig(t)
	r.command(&protocol.TxSelect{})
	r.feed(publish("x", "one", "m"))
	r.cfg.VHost.Publish(r.cfg.VHost.Directory().WithoutExchange("x").WithoutQueue("q1"))
	r.command(&protocol.TxCommit{})
	_, reply := r.posts[0].Mail.(mail.Answerable).Answer(mail.Gone)
	r.posts = nil
	r.turn(reply)
	r.received("tx.select-ok", "tx.commit-ok")
	r.balanced()
}

func TestTx_Rollback(t *testing.T) {
	r := transactional(t)
	r.feed(publish("", "q1", "one"), frame(&protocol.BasicNack{DeliveryTag: 3, Requeue: true}), frame(&protocol.BasicAck{DeliveryTag: 2, Multiple: false}),
		frame(&protocol.BasicAck{DeliveryTag: 4, Multiple: true}))
	if r.queues.Unacked.Len() != 0 {
		t.Error("what was settled cannot be settled again")
	}
	r.command(&protocol.TxRollback{})
	r.received("tx.rollback-ok")
	r.sent()
	r.command(&protocol.BasicAck{DeliveryTag: 4, Multiple: true}, &protocol.TxCommit{})
	r.sent("q1: store 1-3 ack", "q2: store 1-1 ack")
	r.turn(&mail.SettleReply{})
	r.received()
	r.turn(&mail.SettleReply{})
	r.received("tx.commit-ok")
	r.balanced()
}

func TestTx_PartialCompletion(t *testing.T) {
	r := transactional(t)
	r.feed(publish("", "q1", "one"), publish("", "q2", "two"), frame(&protocol.TxCommit{}), publish("", "q2", "late"))
	r.sent("q1: enqueue one#1", "q2: enqueue two#2")
	r.turn(&mail.EnqueueReply{Queue: pid("q1"), Refused: true, Ranges: []mail.Range{{First: 1, Last: 1}}})
	r.received()
	r.turn(&mail.EnqueueReply{Queue: pid("q2"), Ranges: []mail.Range{{First: 2, Last: 2}}})
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - partial tx completion Class:90 Method:20}")
	r.gone([]string{"q1", "q2"})
	r.balanced()
}

// The answer waits until the journal has the settlements; if it fails, the transaction has failed. A queue that has ended
// is not asked.
func TestTx_SettlementsOnly_DUR3(t *testing.T) {
	r := transactional(t)
	r.command(&protocol.BasicAck{DeliveryTag: 4, Multiple: true}, &protocol.TxCommit{})
	r.sent("q1: store 1-3 ack", "q2: store 1-1 ack")
	_, gone := (&mail.Settle{Asked: &mail.Request{}}).Answer(mail.Gone)
	r.turn(gone)
	r.received()
	r.turn(&mail.SettleReply{Reply: mail.Reply{Err: mail.NotRecorded()}})
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - partial tx completion Class:90 Method:20}")
	r = transactional(t)
	r.command(&protocol.BasicAck{DeliveryTag: 4, Multiple: false})
	r.turn(&mail.PeerGone{Who: pid("q2")})
	r.frames()
	r.command(&protocol.TxCommit{})
	r.sent()
	r.received("tx.commit-ok")
}

func TestTx_Misuse(t *testing.T) {
	for _, c := range []struct {
		methods []protocol.Method
		want    string
	}{
		{[]protocol.Method{&protocol.TxCommit{}}, "channel is not transactional Class:90 Method:20"},
		{[]protocol.Method{&protocol.TxRollback{}}, "channel is not transactional Class:90 Method:30"},
		{[]protocol.Method{&protocol.ConfirmSelect{}, &protocol.TxSelect{}}, "cannot switch from confirm to tx mode Class:90 Method:10"},
		{[]protocol.Method{&protocol.TxSelect{}, &protocol.ConfirmSelect{}}, "cannot switch from tx to confirm mode Class:85 Method:10"},
	} {
		r := newRig(t)
		r.command(c.methods...)
		received := r.frames()
		if want := fmt.Sprintf("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - %s}", c.want); received[len(received)-1] != want {
			t.Errorf("%q, want %q", received, want)
		}
	}
	// Checks are made at once: of a publish, and of delivery tags.
	r := transactional(t)
	r.feed(publish("", "q1", "one"), frame(&protocol.BasicAck{DeliveryTag: 1}), frame(&protocol.BasicAck{DeliveryTag: 1}))
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - unknown delivery tag 1 Class:60 Method:80}")
	r.gone([]string{"q1", "q2"}) // nothing of the transaction is carried out
	r = transactional(t)
	r.feed(publish("missing", "", "one"))
	r.received("channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no exchange 'missing' in vhost '/' Class:60 Method:40}")
}

// basic.recover takes effect at once, and only for deliveries not settled in the transaction.
func TestTx_Recover(t *testing.T) {
	r := transactional(t)
	r.command(&protocol.BasicAck{DeliveryTag: 2}, &protocol.BasicRecover{Requeue: true})
	r.received("basic.recover-ok")
	r.sent("q1: settle 1-1 nack 3-3 nack", "q2: settle 1-1 nack")
	r.command(&protocol.TxCommit{})
	r.sent("q1: store 2-2 ack")
	r.turn(&mail.SettleReply{})
	r.received("tx.commit-ok")
}

// The global limit counts settlements only from the commit on.
func TestTx_GlobalQos(t *testing.T) {
	r := transactional(t)
	r.command(global(4))
	r.posts = nil
	r.offers("a", 5)
	r.command(&protocol.BasicAck{Multiple: true})
	r.sent()
	r.command(&protocol.TxCommit{})
	r.sent("q1: allow 4", "q1: store 1-3 ack", "q2: store 1-1 ack")
}
