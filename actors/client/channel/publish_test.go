package channel

import (
	"strings"
	"testing"

	"candlemark/actors/client/routing"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

func expiration(text string) protocol.Properties {
	return protocol.Properties{Flags: protocol.FlagExpiration, Expiration: text}
}

func withHeaders(fields ...any) protocol.Properties {
	p := protocol.Properties{Flags: protocol.FlagHeaders}
	for i := 0; i < len(fields); i += 2 {
		p.Headers = append(p.Headers, protocol.Field{Key: fields[i].(string), Value: fields[i+1]})
	}
	return p
}

// Each publish violates the named rule and all rules checked after it.
func TestTTL7_OrderOfChecks(t *testing.T) {
	bad := withHeaders("CC", "no array")
	bad.Flags |= protocol.FlagExpiration | protocol.FlagUserID
	bad.Expiration, bad.UserID = "soon", "mallory"
	request := bad
	request.Flags |= protocol.FlagReplyTo
	request.ReplyTo = "amq.rabbitmq.reply-to"
	long := strings.Repeat("z", 101)
	const close = "channel.close {ReplyCode:"
	for _, c := range []struct {
		name    string
		publish protocol.BasicPublish
		body    string
		props   protocol.Properties
		channel string // the expected channel.close
		conn    string // the expected mail to the connection
	}{
		{
			name: "immediate", publish: protocol.BasicPublish{Exchange: "secret", Immediate: true}, body: long, props: request,
			conn: "connection: 540 60/40 NOT_IMPLEMENTED - immediate=true",
		},
		{
			name: "size", publish: protocol.BasicPublish{Exchange: "secret"}, body: long, props: request,
			channel: close + "406 ReplyText:PRECONDITION_FAILED - message size 101 is larger than configured max size 100 Class:60 Method:40}",
		},
		{
			name: "permission", publish: protocol.BasicPublish{Exchange: "hidden"}, body: "m", props: request,
			channel: close + "403 ReplyText:ACCESS_REFUSED - write access to exchange 'hidden' in vhost '/' refused for user 'guest' Class:60 Method:40}",
		},
		{
			name: "existence", publish: protocol.BasicPublish{Exchange: "nope"}, body: "m", props: request,
			channel: close + "404 ReplyText:NOT_FOUND - no exchange 'nope' in vhost '/' Class:60 Method:40}",
		},
		{
			name: "internal", publish: protocol.BasicPublish{Exchange: "inner"}, body: "m", props: request,
			channel: close + "403 ReplyText:ACCESS_REFUSED - cannot publish to internal exchange 'inner' in vhost '/' Class:60 Method:40}",
		},
		{
			name: "reply-to", publish: protocol.BasicPublish{Exchange: "x"}, body: "m", props: request,
			channel: close + "406 ReplyText:PRECONDITION_FAILED - fast reply consumer does not exist Class:60 Method:40}",
		},
		{
			name: "expiration", publish: protocol.BasicPublish{Exchange: "x"}, body: "m", props: bad,
			channel: close + "406 ReplyText:PRECONDITION_FAILED - invalid expiration 'soon': no_integer Class:60 Method:40}",
		},
		{
			name: "CC", publish: protocol.BasicPublish{Exchange: "x"}, body: "m",
			props:   protocol.Properties{Flags: bad.Flags &^ protocol.FlagExpiration, Headers: bad.Headers, UserID: bad.UserID},
			channel: close + `406 ReplyText:PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"CC",longstr} Class:60 Method:40}`,
		},
		{
			name: "BCC", publish: protocol.BasicPublish{Exchange: "x"}, body: "m", props: withHeaders("CC", protocol.Array{}, "BCC", int32(1)),
			channel: close + `406 ReplyText:PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"BCC",signedint} Class:60 Method:40}`,
		},
		{
			name: "topic", publish: protocol.BasicPublish{Exchange: "t", RoutingKey: "a.b"}, body: "m",
			props:   protocol.Properties{Flags: protocol.FlagUserID, UserID: "mallory"},
			channel: close + "403 ReplyText:ACCESS_REFUSED - write access to topic 'a.b' in exchange 't' in vhost '/' refused for user 'guest' Class:60 Method:40}",
		},
		{
			name: "topic of a copy", publish: protocol.BasicPublish{Exchange: "t", RoutingKey: "fine"}, body: "m",
			props:   withHeaders("CC", protocol.Array{"fine", "a.b"}),
			channel: close + "403 ReplyText:ACCESS_REFUSED - write access to topic 'a.b' in exchange 't' in vhost '/' refused for user 'guest' Class:60 Method:40}",
		},
		{
			name: "user-id", publish: protocol.BasicPublish{Exchange: "x"}, body: "m",
			props:   protocol.Properties{Flags: protocol.FlagUserID, UserID: "mallory"},
			channel: close + "406 ReplyText:PRECONDITION_FAILED - user_id property set to 'mallory' but authenticated user was 'guest' Class:60 Method:40}",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(cfg *Config) { cfg.MaxMessage = 100 })
			r.perms.Refused = []users.Refusal{{User: "guest", Resource: auth.Resource{Kind: auth.Exchange, Name: "hidden"}, Permission: auth.Write}}
			r.perms.Topics = map[string][]string{"t": {"a.b"}, "x": {"one"}}
			r.feed(content(&c.publish, c.body, c.props))
			if c.conn != "" {
				r.sent(c.conn)
				r.received()
			} else {
				r.sent()
				r.received(c.channel)
			}
			r.balanced()
		})
	}
}

func TestPublish_WithinTheRules(t *testing.T) {
	r := newRig(t)
	own := protocol.Properties{Flags: protocol.FlagUserID, UserID: "guest"}
	r.feed(publish("x", "one", "a", own), publish("", "q2", "b", expiration("0")), publish("x", "both", "c"),
		publish("void", "", "nobody"), publish("x", "none", "nobody"))
	r.sent("q1: enqueue a c", "q2: enqueue b c")
	r.received()
	r.rights.User = auth.User{Name: "guest", Tags: []string{"impersonator"}}
	own.UserID = "mallory"
	r.feed(publish("x", "one", "a", own))
	r.sent("q1: enqueue a")
	r.balanced()
}

func TestPublish_WhatTheQueueGets(t *testing.T) {
	r := newRig(t)
	p := protocol.Properties{
		Flags:      protocol.FlagExpiration | protocol.FlagPriority | protocol.FlagDeliveryMode,
		Expiration: "60000", Priority: 7, DeliveryMode: 2,
	}
	r.feed(publish("x", "one", "body", p), publish("", "q1", ""))
	batch := r.posts[0].Mail.(*mail.Enqueue)
	m := batch.Messages[0]
	if string(m.Exchange) != "x" || string(m.RoutingKey) != "one" || string(m.Header) != string(p.Append(nil)) || string(m.Body) != "body" ||
		m.TTL != 60000 || m.Priority != 7 || !m.Persistent() || m.Number != 0 || m.Owned || m.Overlay != nil {
		t.Errorf("%+v", m)
	}
	if m = batch.Messages[1]; m.TTL != message.NoTTL || m.Persistent() || len(m.Body) != 0 || m.Priority != 0 {
		t.Errorf("%+v", m)
	}
	if batch.From != r.mail.Self() || batch.Queue.GetId() != "q1" {
		t.Errorf("from %v to %v", batch.From, batch.Queue)
	}
	r.sent("q1: enqueue body ")
	r.balanced()
}

func TestPublish_RoutesFollowTheTopology(t *testing.T) {
	r := newRig(t)
	r.feed(publish("x", "one", "a"), publish("x", "one", "b"))
	r.sent("q1: enqueue a b")
	v := r.cfg.VHost
	v.Publish(v.Directory().WithoutExchange("x"))
	r.feed(publish("x", "one", "c"))
	r.received("channel.close {ReplyCode:404 ReplyText:NOT_FOUND - no exchange 'x' in vhost '/' Class:60 Method:40}")
	r.balanced()
}

// A route found by headers is not reused for the next message.
func TestPublish_RoutesByHeadersAreNotRemembered(t *testing.T) {
	r := newRig(t)
	r.feed(publish("h", "k", "red", withHeaders("color", "red")), publish("h", "k", "blue", withHeaders("color", "blue")),
		publish("h", "k", "plain"), publish("h", "k", "again", withHeaders("color", "red")))
	r.sent("q3: enqueue red again")
	r.balanced()
}

func TestDL16_CarbonCopies(t *testing.T) {
	r := newRig(t)
	r.feed(
		publish("", "q1", "a", withHeaders("CC", protocol.Array{"q2", int32(5), "q1"}, "n", int64(1))),
		publish("", "nowhere", "b", withHeaders("BCC", protocol.Array{"q3"}, "n", int64(1), "CC", protocol.Array{"q2"})),
		publish("", "q1", "c"), // the route of a copy is not remembered
		publish("", "nowhere", "d"),
	)
	for _, p := range r.posts {
		for _, m := range p.Mail.(*mail.Enqueue).Messages {
			props, err := protocol.DecodeProperties(m.Header)
			if err != nil {
				t.Fatal(err)
			}
			_, blind := props.Headers.Get("BCC")
			_, open := props.Headers.Get("CC")
			var more []string
			if m.Overlay != nil {
				more = append(m.Overlay.CC, m.Overlay.BCC...)
			}
			if got, want := strings.Join(more, " "), map[string]string{"a": "q2 q1", "b": "q2 q3"}[string(m.Body)]; got != want {
				t.Errorf("%s remembers %q, want %q", m.Body, got, want)
			}
			if body := string(m.Body); blind || open != (body != "c") || len(props.Headers) != 2 && body != "c" {
				t.Errorf("%s has headers %v", body, props.Headers)
			}
		}
	}
	r.sent("q1: enqueue a c", "q2: enqueue a b", "q3: enqueue b")
	r.received()
	r.balanced()
}

func TestPublish_MandatoryReturnComesBeforeItsAck(t *testing.T) {
	r := newRig(t, func(c *Config) { c.FrameMax = 4096 })
	r.command(&protocol.ConfirmSelect{NoWait: true})
	big := strings.Repeat("b", 5000)
	r.feed(
		publish("void", "", "dropped"),
		content(&protocol.BasicPublish{Exchange: "x", RoutingKey: "none", Mandatory: true}, big),
		content(&protocol.BasicPublish{Exchange: "x", RoutingKey: "one", Mandatory: true}, "routed"),
	)
	r.sent("q1: enqueue routed#3")
	r.received(
		"basic.ack {DeliveryTag:1}",
		"basic.return {ReplyCode:312 ReplyText:NO_ROUTE Exchange:x RoutingKey:none}", "header 5000", "body of 4088", "body of 912",
		"basic.ack {DeliveryTag:2}",
	)
	r.balanced()
}

// The cached exchange is dropped when permissions change.
func TestPublish_PermissionsMayChange(t *testing.T) {
	r := newRig(t)
	r.feed(publish("t", "a.b", "1"), publish("x", "one", "2"))
	r.perms.Topics = map[string][]string{"t": {"a.b"}}
	r.feed(publish("x", "one", "3"))
	r.sent("q1: enqueue 1 2", "q1: enqueue 3")
	r.perms.Refused = []users.Refusal{refuse(auth.Exchange, "x", auth.Write)}
	r.perms.Changes++
	r.feed(publish("t", "c", "4"), publish("x", "one", "5"))
	r.sent("q1: enqueue 4")
	r.received("channel.close {ReplyCode:403 ReplyText:ACCESS_REFUSED - write access to exchange 'x' in vhost '/' refused for user 'guest' Class:60 Method:40}")
}

func TestPublish_AdminExchangeNeedsATag_POL15(t *testing.T) {
	r := newRig(t)
	r.cfg.VHost.Publish(r.cfg.VHost.Directory().WithExchange(newExchange("candlemark.admin")))
	r.feed(publish("candlemark.admin", "lock.renew", "m"))
	r.received()
	r.feed(publish("candlemark.admin", "", "m"))
	r.received("channel.close {ReplyCode:403 ReplyText:ACCESS_REFUSED - write access to exchange 'candlemark.admin' in vhost '/' refused for user 'guest' Class:60 Method:40}")
	for _, tag := range []string{"administrator", "policymaker"} {
		r := newRig(t, func(c *Config) { c.User.Tags = []string{tag} })
		x, admin := newExchange(topology.AdminExchange), &topology.Queue{Name: topology.AdminExchange, PID: pid("admin")}
		routes, _ := x.Routes().With(topology.Binding{Destination: admin.Name}, topology.Target{Queue: admin})
		x.Publish(routes)
		r.cfg.VHost.Publish(r.cfg.VHost.Directory().WithExchange(x))
		r.feed(publish(topology.AdminExchange, "", "m"))
		r.received()
		if e := r.posts[0].Mail.(*mail.Enqueue); e.By == nil || e.By.User != "guest" || e.By.Tags[0] != tag || e.By.Connection != r.cfg.Connection {
			t.Errorf("%s: %+v", tag, e.By)
		}
	}
}

// A large message for several queues is copied once; its bytes stay charged until all queues have released it.
func TestPublish_FanOutSharesWhatIsLarge(t *testing.T) {
	for _, size := range []int{routing.ShareFrom - 200, routing.ShareFrom} {
		r := newRig(t)
		r.feed(publish("x", "both", strings.Repeat("s", size)))
		a, b := r.posts[0].Mail.(*mail.Enqueue), r.posts[1].Mail.(*mail.Enqueue)
		m, n := a.Messages[0], b.Messages[0]
		if shared := size >= routing.ShareFrom; m.Owned != shared || n.Owned != shared || (a.Chunk == nil) != shared || &m.Body[0] != &n.Body[0] {
			t.Errorf("%d bytes: owned %v %v, chunk %v", size, m.Owned, n.Owned, a.Chunk)
		}
		if used := r.cfg.Gate.Used(); used < int64(size) {
			t.Errorf("%d bytes under way, charged %d", size, used)
		}
		a.Release()
		b.Release()
		r.balanced()
	}
}

// An answer to an admin command may go only where the requester may publish; to the requester itself it is always allowed.
func TestAnswersNeedPermissionToWrite(t *testing.T) {
	r := newRig(t)
	v := r.cfg.VHost
	x := newExchange(topology.AdminExchange)
	v.Publish(v.Directory().WithExchange(x))
	r.perms.Refused = append(r.perms.Refused, users.Refusal{User: "guest", Resource: auth.Resource{Kind: auth.Exchange}, Permission: auth.Write})
	to := func(name string) protocol.Properties {
		return protocol.Properties{Flags: protocol.FlagReplyTo, ReplyTo: name}
	}
	r.command(&protocol.BasicConsume{Queue: topology.ReplyName, NoAck: true, ConsumerTag: "me"})
	r.frames()
	r.feed(publish(topology.AdminExchange, "queue.peek", "{}", to(topology.ReplyName)))
	r.feed(publish(topology.AdminExchange, "queue.peek", "{}"))
	r.received()
	r.feed(publish(topology.AdminExchange, "queue.peek", "{}", to("q1")))
	r.received("channel.close {ReplyCode:403 ReplyText:ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'guest' " +
		"Class:60 Method:40}")
}
