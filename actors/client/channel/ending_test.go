package channel

import (
	"errors"
	"io"
	"slices"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// busy returns a channel with unacked deliveries of q1 and an unconfirmed publish to q2.
func busy(t *testing.T) *rig {
	r := newRig(t)
	r.command(&protocol.ConfirmSelect{NoWait: true})
	r.consumes("a", "q1")
	r.delivers("q1", "a", 1, "m1", "m2", "m3")
	r.feed(publish("", "q2", "p"), frame(&protocol.BasicAck{DeliveryTag: 1}))
	r.sent("q2: enqueue p#1", "q1: settle 1-1 ack")
	r.frames()
	return r
}

// gone checks that these queues were informed of the channel's end.
func (r *rig) gone(queues []string, rest ...string) {
	r.t.Helper()
	want := map[string]bool{}
	for _, q := range queues {
		want[q+": channelgone"] = true
	}
	var others []mail.Post
	for _, p := range r.posts {
		if text := p.To.GetId() + ": channelgone"; want[text] {
			if _, is := p.Mail.(*mail.ChannelGone); is {
				delete(want, text)
				continue
			}
		}
		others = append(others, p)
	}
	if len(want) > 0 {
		r.t.Errorf("not informed of the end of the channel: %v", want)
	}
	r.posts = others
	r.sent(rest...)
}

func TestClose_ByTheClient(t *testing.T) {
	r := busy(t)
	r.feed(frame(&protocol.BasicAck{DeliveryTag: 2}), publish("", "q2", "q"), frame(&protocol.ChannelClose{ReplyCode: 200}),
		publish("", "q2", "late"), frame(&protocol.BasicQos{}))
	r.gone([]string{"q1", "q2"}, "q2: enqueue q#2", "q1: settle 2-2 ack", "connection: closed 1 true")
	r.received() // close-ok is sent by the connection
	r.turn(&mail.EnqueueReply{Queue: pid("q2"), Ranges: []mail.Range{{First: 1, Last: 2}}})
	r.delivers("q1", "a", 4, "m4")
	r.turn(&mail.CloseChannel{})
	r.sent()
	r.received()
	r.balanced()
}

func TestClose_ByTheBroker(t *testing.T) {
	for _, both := range []bool{false, true} {
		r := busy(t)
		open := content(&protocol.BasicPublish{RoutingKey: "q2"}, "half a content")
		r.feed(publish("", "q2", "q"), publish("missing", "", ""), publish("", "q2", "late"), open[:len(open)-30])
		r.gone([]string{"q1", "q2"}, "q2: enqueue q#2")
		r.received("channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no exchange 'missing' in vhost '/' Class:60 Method:40}")
		// All input but channel.close and close-ok is ignored now.
		r.feed(open[len(open)-30:], frame(&protocol.BasicAck{DeliveryTag: 99}), frame(&protocol.QueueDeclare{}),
			frame(&protocol.BasicRecover{}), protocol.AppendBodyFrames(nil, 1, []byte("x"), 0), publish("missing", "", ""))
		r.turn(&mail.EnqueueReply{Queue: pid("q2"), Ranges: []mail.Range{{First: 1, Last: 2}}})
		r.turn(&mail.ConsumerCancelled{Queue: pid("q1"), Tag: "a"})
		r.turn(&mail.QosOffer{Queue: pid("q1"), Messages: 1})
		r.turn(&mail.PeerGone{Who: pid("q1")})
		r.delivers("q1", "a", 4, "m4")
		r.sent()
		r.received()
		if both { // the client closes at the same time
			r.command(&protocol.ChannelClose{})
			r.received("channel.close-ok")
			r.sent()
		}
		r.command(&protocol.ChannelCloseOk{})
		r.received()
		r.sent("connection: closed 1 false")
		r.balanced()
	}
}

func TestClose_WithTheConnection(t *testing.T) {
	r := busy(t)
	r.turn(&mail.CloseChannel{})
	r.gone([]string{"q1", "q2"}, "connection: closed 1 false")
	r.received()
	r.balanced()

	r = busy(t)
	r.command(&protocol.QueueDelete{IfEmpty: true}) // the broker closes the channel with 404
	r.posts, _ = nil, r.frames()
	r.turn(&mail.CloseChannel{})
	r.sent("connection: closed 1 false")
	r.balanced()
}

// Input read before connection.close is still processed, even behind a waiting command, which may be a no-wait command.
func TestClose_WithTheConnection_RunsWhatWasRead(t *testing.T) {
	r := newRig(t)
	r.feed(frame(&protocol.QueueDeclare{Queue: "q1", NoWait: true}), publish("", "q1", "a"),
		frame(&protocol.QueueBind{Queue: "q1", Exchange: "x", NoWait: true}), publish("", "q1", "b"))
	r.feed(publish("", "q1", "c"))
	r.turn(&mail.CloseChannel{})
	r.sent("vhost: declarequeue")
	r.succeed()
	r.sent("q1: enqueue a", "vhost: bind")
	r.succeed()
	r.sent("q1: enqueue b", "q1: enqueue c", "connection: closed 1 false")
	r.balanced()
}

// After a connection exception the channel ignores everything but the connection's CloseChannel.
func TestClose_ConnectionError(t *testing.T) {
	r := busy(t)
	r.feed(publish("", "q2", "q"), frame(&protocol.BasicConsume{Queue: "q2", ConsumerTag: "a"}), publish("", "q2", "late"))
	r.gone([]string{"q1", "q2"}, "q2: enqueue q#2", "connection: 530 60/20 NOT_ALLOWED - attempt to reuse consumer tag 'a'")
	r.feed(publish("", "q2", "late"), frame(&protocol.ChannelClose{}))
	r.turn(&mail.PeerGone{Who: pid("q1")})
	r.sent()
	r.turn(&mail.CloseChannel{})
	r.sent("connection: closed 1 false")
	r.received()
	r.balanced()
}

// The queue that a command waits for is informed, too: it may be removing a message for this channel.
func TestClose_WhileAQueueIsAsked(t *testing.T) {
	r := newRig(t)
	r.command(&protocol.BasicGet{Queue: "q3"})
	r.sent("q3: get")
	r.turn(input.Expired{ID: r.in.Due()})
	r.gone([]string{"q3"}, "connection: 541 60/70 INTERNAL_ERROR - no answer to basic.get within 30s")
	r.turn(&mail.GetReply{Reply: mail.Reply{ID: 1}, Queue: pid("q3"), Delivery: mail.Delivery{Number: 1}})
	r.received()
}

// A queue ends without having confirmed all publishes.
func TestClose_QueueFailsUnsaid(t *testing.T) {
	r := busy(t)
	r.turn(&mail.PeerGone{Who: pid("q2")})
	r.sent("self: peergone") // an answer may be under way
	r.turn(&mail.PeerGone{Who: pid("q2")})
	r.gone([]string{"q1"}, "connection: 541 0/0 INTERNAL_ERROR - queue process ended without confirming 1 messages")
}

func TestClose_BrokenFrame(t *testing.T) {
	r := newRig(t)
	r.feed(publish("", "q1", "a"), []byte{1, 0, 1, 0, 0, 0, 9})
	r.sent("q1: enqueue a", "connection: 541 0/0 INTERNAL_ERROR - the reader let a broken frame pass")
	r.balanced()
}

// After a panic the outbox is unlocked and holds no incomplete content, and the shell releases the resources of the current mail.
func TestPanic_GivesEverythingBack(t *testing.T) {
	for name, fail := range map[string]func(r *rig){
		"while a read is run": func(r *rig) {
			r.rights.Permissions = panics{r.perms, "q1"}
			r.feed(publish("", "q2", "a"), publish("", "q3", "b"), frame(&protocol.QueuePurge{Queue: "q1"}), publish("", "q1", "c"))
		},
		"while a delivery is written": func(r *rig) {
			m := r.inbound([]byte("read"))
			r.turn(&mail.Deliver{Queue: pid("q1"), Tag: "a", NoAck: true, Chunk: m.Chunk, Items: []mail.Delivery{
				{Number: 1, Message: message.Message{Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: []byte("m1")}},
				{Number: 2, Message: message.Message{Overlay: &message.Overlay{DropExpiration: true}}}, // has no header to which the overlay could be applied
			}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) {
				c.Log = zerolog.New(io.Discard).Hook(zerolog.HookFunc(func(*zerolog.Event, zerolog.Level, string) { panic("disk full") }))
			})
			r.consumes("a", "q1")
			func() {
				defer func() {
					if recover() == nil {
						t.Error("nothing broke")
					}
				}()
				fail(r)
			}()
			waiting := r.inbound([]byte("waiting"))
			r.cfg.Close = func() []any { return []any{waiting, errors.New("other mail")} }
			r.abort()
			r.posts = nil
			if name == "while a delivery is written" {
				r.received(deliver("a", 1, "m1")...) // would hang if the outbox were locked
			} else {
				r.received()
			}
			r.balanced()
			r.cfg.Close = func() []any { return nil }
			r.abort()
		})
	}
}

// Queues are informed before channel.close is sent, so a client that receives it finds the channel's messages requeued.
func TestException_QueuesAreInformedFirst(t *testing.T) {
	r := newRig(t)
	r.consumes("a", "q1")
	r.Handle(r.inbound(frame(&protocol.BasicAck{DeliveryTag: 99})))
	r.received()
	if !slices.ContainsFunc(r.mail.Out, func(p mail.Post) bool { _, is := p.Mail.(*mail.ChannelGone); return is }) {
		t.Error("the queue is not informed of the end of the channel")
	}
	r.sendClose()
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - unknown delivery tag 99 Class:60 Method:80}")
}
