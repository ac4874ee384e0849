package channel

import (
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"candlemark/actors/client/channel/output"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

func replyTo(name string) protocol.Properties {
	return protocol.Properties{Flags: protocol.FlagReplyTo | protocol.FlagCorrelationID, ReplyTo: name, CorrelationID: "c"}
}

// requests makes the channel a requester and returns its reply name as it appears in the reply-to of a request.
func (r *rig) requests(tag string) string {
	r.t.Helper()
	r.command(&protocol.BasicConsume{Queue: topology.ReplyName, ConsumerTag: tag, NoAck: true})
	r.received("basic.consume-ok {ConsumerTag:" + tag + "}")
	r.feed(publish("", "q1", "request", replyTo(topology.ReplyName)))
	e := r.posts[0].Mail.(*mail.Enqueue)
	p, err := protocol.DecodeProperties(e.Messages[0].Header)
	if err != nil || p.CorrelationID != "c" {
		r.t.Fatalf("%+v %v", p, err)
	}
	r.sent("q1: enqueue request")
	return p.ReplyTo
}

// partner is another channel in the same virtual host.
func (r *rig) partner() *rig {
	other := newRig(r.t, func(c *Config) { c.VHost = r.cfg.VHost })
	other.mail.Me = pid("partner")
	return other
}

// pass delivers the mail sent to a requester; its answers are passed back.
func (r *rig) pass(to *rig) {
	r.t.Helper()
	there := r.posts
	r.posts = nil
	for _, p := range there {
		to.turn(p.Mail)
	}
	back := to.posts
	to.posts = nil
	for _, p := range back {
		if mail.Same(p.To, r.mail.Self()) {
			r.turn(p.Mail)
		}
	}
}

func reply(tag string, n int, key, body string) []string {
	return []string{
		"basic.deliver {ConsumerTag:" + tag + " DeliveryTag:" + string(rune('0'+n)) + " RoutingKey:" + key + "}",
		"header " + string(rune('0'+len(body))), "body " + body,
	}
}

func TestReplyTo_RoundTrip(t *testing.T) {
	r := newRig(t)
	name := r.requests("t")
	if len(name) != len("amq.rabbitmq.reply-to.")+22 || !strings.HasPrefix(name, "amq.rabbitmq.reply-to.") {
		t.Fatalf("replies to %q", name)
	}
	other := r.partner()
	other.command(&protocol.ConfirmSelect{NoWait: true})
	other.feed(publish("", name, "a"), content(&protocol.BasicPublish{RoutingKey: name, Mandatory: true}, "b"),
		publish("", "q2", "c", withHeaders("CC", protocol.Array{name, name})), publish("", name, "d"))
	other.posts = other.posts[:1] // the rest is addressed to q2
	other.pass(r)
	r.received(concat(reply("t", 1, name, "a"), reply("t", 2, name, "b"), reply("t", 3, "q2", "c"), reply("t", 4, name, "d"))...)
	other.received("basic.ack {DeliveryTag:2 Multiple:true}", "basic.ack {DeliveryTag:4}")
	if other.queues.Batches.Len() != 1 {
		t.Errorf("%d targets are remembered, want q2 alone", other.queues.Batches.Len())
	}
	r.balanced()
}

func TestReplyTo_Refusals(t *testing.T) {
	const close = "channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - "
	for name, c := range map[string]struct {
		before []protocol.Method
		frames []byte
		want   string
	}{
		"with acknowledgements": {
			nil, frame(&protocol.BasicConsume{Queue: topology.ReplyName}),
			close + "reply consumer cannot acknowledge Class:60 Method:20}",
		},
		"a second consumer": {
			[]protocol.Method{&protocol.BasicConsume{Queue: topology.ReplyName, NoAck: true, NoWait: true}},
			frame(&protocol.BasicConsume{Queue: topology.ReplyName, NoAck: true}), close + "reply consumer already set Class:60 Method:20}",
		},
		"a request without consumer": {
			nil, publish("", "q1", "m", replyTo(topology.ReplyName)),
			close + "fast reply consumer does not exist Class:60 Method:40}",
		},
		"a request after cancel": {
			[]protocol.Method{
				&protocol.BasicConsume{Queue: topology.ReplyName, NoAck: true, NoWait: true, ConsumerTag: "t"},
				&protocol.BasicCancel{ConsumerTag: "t", NoWait: true},
			},
			publish("", "q1", "m", replyTo(topology.ReplyName)),
			close + "fast reply consumer does not exist Class:60 Method:40}",
		},
		"declare of nobody's name": {
			nil, frame(&protocol.QueueDeclare{Queue: "amq.rabbitmq.reply-to.x", Passive: true}),
			"channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no queue 'amq.rabbitmq.reply-to.x' in vhost '/' Class:50 Method:10}",
		},
		"get": {
			nil, frame(&protocol.BasicGet{Queue: topology.ReplyName}),
			"channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no queue 'amq.rabbitmq.reply-to' in vhost '/' Class:60 Method:70}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.command(c.before...)
			r.received()
			r.feed(c.frames)
			r.received(c.want)
			r.sent()
			r.balanced()
		})
	}
}

func TestReplyTo_TagsAreUsedOnce(t *testing.T) {
	for _, first := range []string{topology.ReplyName, "q1"} {
		r := newRig(t)
		second := topology.ReplyName
		r.command(&protocol.BasicConsume{Queue: first, ConsumerTag: "t", NoAck: true})
		if first != topology.ReplyName {
			r.succeed()
		} else {
			second = "q1"
		}
		r.posts = nil
		r.command(&protocol.BasicConsume{Queue: second, ConsumerTag: "t", NoAck: true})
		if last := r.describe(r.posts[len(r.posts)-1]); last != "connection: 530 60/20 NOT_ALLOWED - attempt to reuse consumer tag 't'" {
			t.Error(first, "then", second, last)
		}
	}
}

// A declare of a reply name is always treated as passive.
func TestReplyTo_Declare(t *testing.T) {
	r := newRig(t)
	name := r.requests("t")
	other := r.partner()
	other.perms.Refused = append(other.perms.Refused, refuse(1, name, 1))
	for _, m := range []protocol.QueueDeclare{
		{Queue: topology.ReplyName, Passive: true}, {Queue: name, Passive: true}, {Queue: name, Durable: true, Exclusive: true},
	} {
		other.command(&m)
		other.received("queue.declare-ok {Queue:" + m.Queue + " ConsumerCount:1}")
	}
	other.command(&protocol.QueueDeclare{Queue: name, NoWait: true})
	other.received()
	other.sent()
	r.command(&protocol.BasicCancel{ConsumerTag: "t"})
	r.received("basic.cancel-ok {ConsumerTag:t}")
	other.command(&protocol.QueueDeclare{Queue: name, Passive: true})
	other.received("channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no queue '" + name + "' in vhost '/' Class:50 Method:10}")
}

// The name of a requester is removed with it, for every way in which it can end.
func TestReplyTo_GoneRequester(t *testing.T) {
	for name, leave := range map[string]func(r *rig){
		"cancel":         func(r *rig) { r.command(&protocol.BasicCancel{ConsumerTag: "t"}) },
		"channel.close":  func(r *rig) { r.command(&protocol.ChannelClose{}) },
		"an exception":   func(r *rig) { r.command(&protocol.BasicAck{DeliveryTag: 99}) },
		"the connection": func(r *rig) { r.turn(&mail.CloseChannel{}) },
		"a panic": func(r *rig) {
			r.abort()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			key := r.requests("t")
			other := r.partner()
			other.command(&protocol.ConfirmSelect{NoWait: true})
			other.feed(publish("", key, "in time"))
			leave(r)
			r.frames()
			other.pass(r) // under way before the end: dropped and confirmed
			r.received()
			other.received("basic.ack {DeliveryTag:1}")
			other.feed(publish("", key, "late"), content(&protocol.BasicPublish{RoutingKey: key, Mandatory: true}, "late"))
			other.sent()
			other.received("basic.ack {DeliveryTag:2}", "basic.return {ReplyCode:312 ReplyText:NO_ROUTE RoutingKey:"+key+"}", "header 4", "body late",
				"basic.ack {DeliveryTag:3}")
			other.balanced()
		})
	}
}

// Mail left in the mailbox of a channel that ends is answered, and so is the mail that caused a panic.
func TestReplyTo_MailboxIsAnswered(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Log = zerolog.New(io.Discard).Hook(zerolog.HookFunc(func(*zerolog.Event, zerolog.Level, string) { panic("disk full") }))
	})
	key := r.requests("t")
	other := r.partner()
	other.command(&protocol.ConfirmSelect{NoWait: true})
	other.feed(publish("", key, "1"))
	other.feed(publish("", key, "2"))
	broken := other.posts[0].Mail.(*mail.Enqueue)
	broken.Messages[0].Header, broken.Messages[0].Overlay = nil, &message.Overlay{DropExpiration: true}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing broke")
			}
		}()
		r.Handle(broken)
	}()
	left := other.posts[1].Mail
	r.cfg.Close = func() []any { return []any{left} }
	r.in.Post = func(to mail.Address, received any) {
		if !mail.Same(to, other.mail.Self()) {
			t.Error("answered to", to)
		}
		other.turn(received)
	}
	r.abort()
	other.received("basic.ack {DeliveryTag:2}", "basic.ack {DeliveryTag:1}")
	other.balanced()
}

// A reply to an earlier consumer of a channel is not delivered to the next one.
func TestReplyTo_NextConsumer(t *testing.T) {
	r := newRig(t)
	first := r.requests("t")
	other := r.partner()
	other.feed(publish("", first, "for the first"))
	r.command(&protocol.BasicCancel{ConsumerTag: "t"})
	r.frames()
	if second := r.requests("t"); second == first {
		t.Error("the name was used again")
	}
	other.pass(r)
	r.received()
	other.balanced()
}

// A channel can reply to itself, and neither watches nor notifies itself.
func TestReplyTo_OneChannel(t *testing.T) {
	r := newRig(t)
	r.command(&protocol.ConfirmSelect{NoWait: true})
	r.command(&protocol.BasicConsume{Queue: topology.ReplyName, ConsumerTag: "t", NoAck: true, NoWait: true})
	name := r.replies.Name()
	r.Handle(r.inbound(publish("", name, "a")))
	if r.watches() > 0 {
		t.Error("it watches itself")
	}
	r.turn(&mail.OutboxReady{})
	r.pass(r)
	r.received(concat(reply("t", 1, name, "a"), "basic.ack {DeliveryTag:1}")...)
	r.command(&protocol.ChannelClose{})
	r.sent("connection: closed 1 true")
	r.balanced()
}

// Replies held for a requester that does not read are limited, and hold no read chunk of other channels.
func TestReplyTo_SlowRequester(t *testing.T) {
	r := newRig(t, small)
	name := r.requests("t")
	other := r.partner()
	other.command(&protocol.ConfirmSelect{NoWait: true})
	big := strings.Repeat("x", output.ReplyLimit/4)
	for range 6 {
		other.feed(content(&protocol.BasicPublish{RoutingKey: name}, big))
		other.pass(r)
	}
	// The first filled the outbox, three wait, and the rest exceeds the limit.
	other.received("basic.ack {DeliveryTag:1}", "basic.ack {DeliveryTag:2}", "basic.ack {DeliveryTag:3}", "basic.ack {DeliveryTag:4}",
		"basic.nack {DeliveryTag:5}", "basic.nack {DeliveryTag:6}")
	other.balanced()
	for r.output.Len() > 0 {
		r.frames()
		r.ready()
	}
	if n := r.cfg.Replies.Load(); n != 0 {
		t.Errorf("%d bytes wait", n)
	}
}

// The channels of a connection share that limit.
func TestReplyTo_SlowRequesterOfManyChannels(t *testing.T) {
	var waiting atomic.Int64
	share := func(c *Config) { c.Replies = &waiting }
	first, second := newRig(t, small, share), newRig(t, small, share)
	big := strings.Repeat("x", output.ReplyLimit/4)
	answer := func(r *rig, name string, times int) (heard []string) {
		other := r.partner()
		other.command(&protocol.ConfirmSelect{NoWait: true})
		for range times {
			other.feed(content(&protocol.BasicPublish{RoutingKey: name}, big))
			other.pass(r)
		}
		return other.frames()
	}
	one, two := first.requests("t"), second.requests("t")
	answer(first, one, 4)
	if heard := answer(second, two, 3); !slices.Contains(heard, "basic.nack {DeliveryTag:2}") || waiting.Load() > output.ReplyLimit {
		t.Errorf("%d bytes wait: %q", waiting.Load(), heard)
	}
	first.command(&protocol.ChannelClose{})
	for second.output.Len() > 0 {
		second.frames()
		second.ready()
	}
	if waiting.Load() != 0 {
		t.Errorf("%d bytes wait", waiting.Load())
	}
}

func TestReplyTo_Transaction(t *testing.T) {
	r := newRig(t)
	name := r.requests("t")
	other := r.partner()
	other.command(&protocol.TxSelect{})
	other.feed(publish("", name, "a"))
	other.sent()
	other.command(&protocol.TxCommit{})
	other.pass(r)
	r.received(reply("t", 1, name, "a")...)
	other.received("tx.select-ok", "tx.commit-ok")
	if other.queues.Batches.Len() > 0 {
		t.Error("the requester is remembered")
	}
}

func TestAllocations_ReplyToCostsOthersNothing(t *testing.T) {
	r := newRig(t)
	one := publish("", "q1", "0123456789", protocol.Properties{Flags: protocol.FlagReplyTo, ReplyTo: "answers"})
	got := perMessage(t, func(n int) {
		frames := make([][]byte, n)
		for i := range frames {
			frames[i] = one
		}
		r.step(r.inbound(frames...))
	})
	if got > 0.1 {
		t.Errorf("%.2f allocations per message", got)
	}
}
