package channel

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/actors/client/channel/output"
	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"
)

// consumes attaches a consumer to a queue, with acknowledgements.
func (r *rig) consumes(tag, queue string) {
	r.t.Helper()
	r.ask(&protocol.BasicConsume{Queue: queue, ConsumerTag: tag})
	r.received("basic.consume-ok {ConsumerTag:" + tag + "}")
	r.sent(queue + ": consume")
}

// delivers has a queue deliver bodies numbered from first; with first 0 they need no acknowledgement.
func (r *rig) delivers(queue, tag string, first uint64, bodies ...string) {
	r.t.Helper()
	d := mail.NewDeliver(pid(queue), tag, first == 0)
	for i, body := range bodies {
		item := mail.Delivery{Message: message.Message{
			Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: []byte(body), Owned: true,
		}}
		if first > 0 {
			item.Number = first + uint64(i)
		}
		d.Items = append(d.Items, item)
	}
	r.turn(d)
}

func deliver(consumer string, tag int, body string) []string {
	return []string{
		fmt.Sprintf("basic.deliver {ConsumerTag:%s DeliveryTag:%d Exchange:x RoutingKey:k}", consumer, tag),
		fmt.Sprintf("header %d", len(body)), "body " + body,
	}
}

func concat(parts ...any) (all []string) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			all = append(all, p)
		case []string:
			all = append(all, p...)
		}
	}
	return all
}

func TestConsume_Tags(t *testing.T) {
	r := newRig(t)
	r.ask(&protocol.BasicConsume{Queue: "q1"})
	made := strings.TrimSuffix(strings.TrimPrefix(r.frames()[0], "basic.consume-ok {ConsumerTag:"), "}")
	if len(made) != len("amq.ctag-")+22 || !strings.HasPrefix(made, "amq.ctag-") {
		t.Errorf("made %q", made)
	}
	r.ask(&protocol.BasicConsume{Queue: "q1", ConsumerTag: "t"})
	r.posts, _ = nil, r.frames()
	r.command(&protocol.BasicConsume{Queue: "gone", ConsumerTag: "t"}) // the tag is checked before the queue
	r.sent("q1: channelgone", "connection: 530 60/20 NOT_ALLOWED - attempt to reuse consumer tag 't'")
	r.received()
}

func TestConsume_WhatTheQueueIsAsked(t *testing.T) {
	r := newRig(t)
	args := protocol.Table{{Key: "x-priority", Value: int32(3)}}
	r.command(&protocol.BasicQos{PrefetchCount: 9}, &protocol.BasicConsume{Queue: "q1", ConsumerTag: "t", Exclusive: true, Arguments: args})
	c := r.asked[0].(*mail.Consume)
	if c.Prefetch != 9 || !c.Exclusive || c.NoAck || c.Limited || c.Tag != "t" || c.Channel != r.mail.Self() || c.Connection.GetId() != "connection" ||
		c.Queue != "q1" || c.VHost != "/" || len(c.Arguments) != 1 {
		t.Errorf("%+v", c)
	}
	r.reply(protocol.ChannelErrorf(403, "queue 'q1' in vhost '/' in exclusive use"))
	r.received("basic.qos-ok", "channel.close {ReplyCode:403 ReplyText:ACCESS_REFUSED - queue 'q1' in vhost '/' in exclusive use Class:60 Method:20}")
}

func TestConsume_Missing(t *testing.T) {
	r := newRig(t)
	r.command(&protocol.BasicConsume{Queue: "nope"})
	r.received("channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no queue 'nope' in vhost '/' Class:60 Method:20}")
}

// Delivery tags count every delivery, with or without acknowledgement, including deliveries by basic.get.
func TestDelivery_TagsAndSettling(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	r.consumes("b", "q2")
	r.delivers("q1", "a", 1, "m1", "m2", "m3")
	r.delivers("q2", "b", 0, "n") // without acknowledgements
	r.delivers("q2", "b", 1, "m5")
	r.received(concat(deliver("a", 1, "m1"), deliver("a", 2, "m2"), deliver("a", 3, "m3"), deliver("b", 4, "n"), deliver("b", 5, "m5"))...)
	r.command(&protocol.BasicGet{Queue: "q1"})
	r.turn(&mail.GetReply{Reply: requestOf(r.asked[0]).Done(nil), Queue: pid("q1"), MessageCount: 8, Delivery: mail.Delivery{
		Number: 4, Redelivered: true, Message: message.Message{Header: []byte{0, 0}, RoutingKey: []byte("q1"), Body: []byte("got")},
	}})
	r.asked = nil
	r.received("basic.get-ok {DeliveryTag:6 Redelivered:true RoutingKey:q1 MessageCount:8}", "header 3", "body got")
	r.delivers("q1", "a", 5, "m7", "m8", "m9")
	r.frames()
	r.posts = nil
	r.feed(frame(&protocol.BasicAck{DeliveryTag: 2}), frame(&protocol.BasicAck{DeliveryTag: 1}), frame(&protocol.BasicReject{DeliveryTag: 3}))
	r.sent("q1: settle 2-2 ack 1-1 ack 3-3 reject")
	r.command(&protocol.BasicAck{DeliveryTag: 7, Multiple: true})
	r.sent("q2: settle 1-1 ack", "q1: settle 4-5 ack")
	r.command(&protocol.BasicNack{DeliveryTag: 8, Requeue: true}, &protocol.BasicNack{Multiple: true})
	r.sent("q1: settle 6-6 nack", "q1: settle 7-7 discard")
	r.command(&protocol.BasicAck{Multiple: true}, &protocol.BasicNack{Multiple: true, Requeue: true}) // nothing is unacked
	r.sent()
	r.received()
}

func TestDEC15_UnknownDeliveryTag(t *testing.T) {
	for _, m := range []protocol.Method{
		&protocol.BasicAck{DeliveryTag: 5},
		&protocol.BasicAck{DeliveryTag: 2}, // settled already
		&protocol.BasicAck{DeliveryTag: 2, Multiple: true},
		&protocol.BasicAck{DeliveryTag: 4}, // needs no acknowledgement
		&protocol.BasicAck{},
		&protocol.BasicNack{DeliveryTag: 5, Multiple: true},
		&protocol.BasicReject{DeliveryTag: 1 << 63},
	} {
		r := newRig(t)
		r.consumes("a", "q1")
		r.delivers("q1", "a", 1, "m1", "m2", "m3")
		r.delivers("q1", "a", 0, "n")
		r.frames()
		r.command(&protocol.BasicAck{DeliveryTag: 2})
		r.sent("q1: settle 2-2 ack")
		var tag uint64
		switch m := m.(type) {
		case *protocol.BasicAck:
			tag = m.DeliveryTag
		case *protocol.BasicNack:
			tag = m.DeliveryTag
		case *protocol.BasicReject:
			tag = m.DeliveryTag
		}
		r.command(m)
		r.sent("q1: channelgone") // nothing is settled, everything is requeued
		r.received(fmt.Sprintf("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - unknown delivery tag %d Class:60 Method:%d}", tag, m.Key().Method()))
	}
}

func TestRecover_ReturnsEverything(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	r.consumes("b", "q2")
	r.delivers("q1", "a", 1, "m1", "m2")
	r.delivers("q2", "b", 1, "m3")
	r.frames()
	r.command(&protocol.BasicAck{DeliveryTag: 1})
	r.posts = nil
	r.command(&protocol.BasicRecover{Requeue: true})
	r.sent("q1: settle 2-2 nack", "q2: settle 1-1 nack")
	r.received("basic.recover-ok")
	r.command(&protocol.BasicAck{DeliveryTag: 2})
	r.frames()
	if r.in.Phase != input.Closing {
		t.Error("a returned delivery cannot be acknowledged")
	}
}

// Settling deliveries of a queue that has ended is allowed.
func TestLEASE6_AckAfterTheQueueWent(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	r.delivers("q1", "a", 1, "m1", "m2")
	r.frames()
	r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "a"})
	r.received("basic.cancel {ConsumerTag:a NoWait:true}")
	r.turn(&mail.PeerGone{Who: pid("q1")})
	r.command(&protocol.BasicAck{DeliveryTag: 2, Multiple: true})
	r.sent()
	r.received()
}

func TestLEASE9_CancelNotice(t *testing.T) {
	for _, announced := range []bool{true, false} {
		r := newRig(t, func(c *Config) { c.CancelNotify = announced })
		r.consumes("a", "q1")
		r.consumes("b", "q2")
		r.turn(&mail.ConsumerCancelled{Queue: pid("q2"), Tag: "a"}) // the consumer is not on that queue
		r.received()
		r.turn(&mail.PeerGone{Who: pid("q1")})
		if announced {
			r.received("basic.cancel {ConsumerTag:a NoWait:true}")
		} else {
			r.received()
		}
		r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "a"}) // the client is notified only once
		r.command(&protocol.BasicCancel{ConsumerTag: "a"})
		r.received("basic.cancel-ok {ConsumerTag:a}")
		r.consumes("a", "q2")
		r.sent()
	}
}

// A consumer cancelled by the queue while basic.cancel is under way: the client receives both basic.cancel and cancel-ok.
func TestCancel_MeetsTheQueuesEnd(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	r.command(&protocol.BasicCancel{ConsumerTag: "a"})
	r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "a"})
	r.succeed()
	r.received("basic.cancel {ConsumerTag:a NoWait:true}", "basic.cancel-ok {ConsumerTag:a}")
}

func TestDelivery_OfConsumersUnknown(t *testing.T) {
	r := newRig(t)
	m := r.inbound([]byte("content"))
	r.turn(&mail.Deliver{Queue: pid("q1"), Tag: "none", Items: make([]mail.Delivery, 1), Chunk: m.Chunk})
	r.received()
	r.balanced()
}

// small configures an outbox with room for a few small contents.
func small(c *Config) { c.Outbox = outbox.New(150, nil) }

// ready sends the mail of the writer's callback.
func (r *rig) ready() {
	r.t.Helper()
	if len(r.later) != 1 {
		r.t.Fatalf("%d mails were posted", len(r.later))
	}
	m := r.later[0]
	r.later = nil
	r.turn(m)
}

func TestHeld_OrderAndTags(t *testing.T) {
	r := newRig(t, small)
	r.consumes("a", "q1")
	r.consumes("b", "q2")
	r.delivers("q1", "a", 1, "m1", "m2", "m3", "m4", "m5")
	r.delivers("q2", "b", 1, "n1")
	r.turn(&mail.ConsumerCancelled{Queue: pid("q2"), Tag: "b"})
	r.posts = nil
	r.command(&protocol.BasicGet{Queue: "q1"})
	r.sent() // the get waits until the client has read
	r.received(concat(deliver("a", 1, "m1"), deliver("a", 2, "m2"), deliver("a", 3, "m3"))...)
	r.ready()
	r.received(concat(deliver("a", 4, "m4"), deliver("a", 5, "m5"), deliver("b", 6, "n1"))...)
	r.sent()
	r.ready()
	r.received("basic.cancel {ConsumerTag:b NoWait:true}")
	r.sent("q1: get")
	// Deliveries behind the get's answer have higher tags.
	r.gives(6, "got")
	r.delivers("q1", "a", 7, "m6")
	r.received(concat("basic.get-ok {DeliveryTag:7}", "header 3", "body got", deliver("a", 8, "m6"))...)
	r.command(&protocol.BasicAck{DeliveryTag: 7})
	r.sent("q1: settle 6-6 ack")
	r.command(&protocol.BasicAck{DeliveryTag: 5, Multiple: true})
	r.sent("q1: settle 1-5 ack")
	r.turn(&mail.OutboxReady{}) // a late notification has no effect
	r.received()
	if r.output.Len() != 0 || len(r.later) != 0 {
		t.Errorf("held %d, posted %d", r.output.Len(), len(r.later))
	}
}

// cancel-ok is sent after the held deliveries, and later answers after cancel-ok.
func TestHeld_CancelOkWaits(t *testing.T) {
	r := newRig(t, small)
	r.consumes("a", "q1")
	r.delivers("q1", "a", 1, "m1", "m2", "m3", "m4")
	r.feed(frame(&protocol.BasicCancel{ConsumerTag: "a"}), frame(&protocol.BasicQos{}), publish("", "q2", "p"))
	r.sent("q1: cancelconsumer")
	r.succeed()
	r.sent()
	r.received(concat(deliver("a", 1, "m1"), deliver("a", 2, "m2"), deliver("a", 3, "m3"))...)
	if !r.waits() || r.in.Waits() {
		t.Error("there is no deadline for a client that does not read")
	}
	r.ready()
	r.received(concat(deliver("a", 4, "m4"), "basic.cancel-ok {ConsumerTag:a}", "basic.qos-ok")...)
	r.sent("q2: enqueue p")
	r.balanced()
}

// With no-wait the tag can be reused at once, and the deliveries held back belong to the old consumer.
func TestHeld_TagUsedAgain(t *testing.T) {
	r := newRig(t, small)
	r.consumes("a", "q1")
	r.delivers("q1", "a", 1, "m1", "m2", "m3", "m4")
	r.frames()
	r.command(&protocol.BasicCancel{ConsumerTag: "a", NoWait: true})
	r.succeed()
	r.command(&protocol.BasicConsume{Queue: "q2", ConsumerTag: "a"})
	r.succeed()
	r.delivers("q2", "a", 1, "n1")
	r.received()
	r.ready()
	r.received(concat(deliver("a", 4, "m4"), "basic.consume-ok {ConsumerTag:a}", deliver("a", 5, "n1"))...)
	r.posts = nil
	r.command(&protocol.BasicAck{DeliveryTag: 5, Multiple: true})
	r.sent("q1: settle 1-4 ack", "q2: settle 1-1 ack")
}

// A waiting delivery does not hold the read chunk of its publisher.
func TestHeld_LetsGoOfReads(t *testing.T) {
	r := newRig(t, small)
	r.consumes("a", "q1")
	pass := func(bodies ...string) {
		m := r.inbound([]byte(strings.Join(bodies, "")))
		d := &mail.Deliver{Queue: pid("q1"), Tag: "a", NoAck: true, Chunk: m.Chunk}
		at := 0
		for _, b := range bodies {
			d.Items = append(d.Items, mail.Delivery{Message: message.Message{
				Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: m.Runs[0][at : at+len(b)],
			}})
			at += len(b)
		}
		r.turn(d)
	}
	pass("m1", "m2", "m3", "m4", "m5")
	pass("m6")
	r.balanced()
	r.received(concat(deliver("a", 1, "m1"), deliver("a", 2, "m2"), deliver("a", 3, "m3"))...)
	r.ready()
	r.received(concat(deliver("a", 4, "m4"), deliver("a", 5, "m5"), deliver("a", 6, "m6"))...)
	pass("m7")
	r.received(deliver("a", 7, "m7")...)
	r.balanced()
}

func TestHeld_EndsWithTheChannel(t *testing.T) {
	r := newRig(t, small)
	r.consumes("a", "q1")
	r.delivers("q1", "a", 1, "m1", "m2", "m3", "m4")
	r.frames()
	r.feed(frame(&protocol.BasicCancel{ConsumerTag: "a"}))
	r.posts = nil
	r.succeed()
	r.feed(publish("", "q2", "p"))
	r.turn(&mail.CloseChannel{}) // the connection ends: nothing waits for room
	r.sent("q2: enqueue p", "q1: channelgone", "connection: closed 1 false")
	r.received()
	r.balanced()
}

// Credit for messages passed to the outbox is returned to the queue's window in batches.
func TestDelivery_Grants(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	bodies := make([]string, 600)
	r.delivers("q1", "a", 1, bodies...)
	r.sent()
	r.delivers("q1", "a", 601, bodies...)
	r.sent("q1: grant a 1200 0")
	r.frames()
	big := strings.Repeat("b", output.GrantBytes/2+1)
	r.delivers("q1", "a", 1201, big)
	r.sent()
	r.delivers("q1", "a", 1202, big, "c")
	r.sent(fmt.Sprintf("q1: grant a 3 %d", 2*len(big)+1))
}

// A client that deletes a queue receives the answer before the cancel notices, as with RabbitMQ.
func TestDelete_ThenTheNotice(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	r.consumes("b", "q1")
	r.command(&protocol.QueueDelete{Queue: "q1"})
	r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "a"})
	r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "b"})
	r.received()
	r.succeed()
	r.received("queue.delete-ok {MessageCount:7}", "basic.cancel {ConsumerTag:a NoWait:true}", "basic.cancel {ConsumerTag:b NoWait:true}")
}

// The property list built for one dead letter is reused for the next only if the lists are equal, even when the memory of the
// first is reused.
func TestDL20_HeadersOfManyDeadLetters(t *testing.T) {
	r := newRig(t)
	var o [3]*message.Overlay // none, and two death histories
	for i, queue := range []string{"q1", "q2"} {
		o[i+1] = o[0].Died(message.Death{Queue: queue, Reason: "expired", Time: 1})
	}
	raw := make([]byte, 0, 64)
	for i, step := range []struct {
		overlay int
		kind    string
	}{{1, "a"}, {1, "a"}, {1, "b"}, {2, "b"}, {0, "b"}, {2, "b"}, {2, "a"}, {0, "a"}, {1, "a"}, {2, "a"}, {2, "b"}} {
		raw = (&protocol.Properties{ContentType: step.kind, Flags: protocol.FlagContentType}).Append(raw[:0])
		d := mail.Delivery{Message: message.Message{Header: raw, Overlay: o[step.overlay]}}
		want, err := d.Message.Overlay.Header(raw)
		if got := r.output.HeaderOf(&d); err != nil || string(got) != string(want) {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
}

// TestReturning_DL9: basic.reject counts as a failed delivery, basic.nack does not.
func TestReturning_DL9(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	r.delivers("q1", "a", 1, "m1", "m2", "m3", "m4")
	r.posts = nil
	r.command(&protocol.BasicReject{DeliveryTag: 1}, &protocol.BasicReject{DeliveryTag: 2, Requeue: true},
		&protocol.BasicNack{DeliveryTag: 3}, &protocol.BasicNack{DeliveryTag: 4, Requeue: true})
	r.sent("q1: settle 1-1 reject", "q1: settle 2-2 requeue", "q1: settle 3-3 discard", "q1: settle 4-4 nack")
}
