package command

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble is a command actor with probes around it: a registry, a channel, and a queue for the answers. Probes only record their
// mail.
type bubble struct {
	*testing.T
	system                                 *actor.ActorSystem
	vhost                                  *topology.VHost
	actor                                  *actor.PID
	registry, channel, answers, deadLetter *probe
}

type probe struct {
	*bubble
	pid *actor.PID
	got chan any
}

func (b *bubble) probe() *probe {
	p := &probe{bubble: b, got: make(chan any, 100)}
	p.pid = b.system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch c.Message().(type) {
		case *actor.Started, *actor.Stopping, *actor.Stopped:
		default:
			p.got <- c.Message()
		}
	}))
	return p
}

func inBubble(t *testing.T, test func(b *bubble)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t, system: actor.NewActorSystem(), vhost: topology.NewVHost("/")}
		b.registry, b.channel, b.answers, b.deadLetter = b.probe(), b.probe(), b.probe(), b.probe()
		b.vhost.DeadLetter = b.deadLetter.pid
		b.vhost.Publish(b.vhost.Directory().WithQueue(&topology.Queue{Name: "answers", PID: b.answers.pid}))
		b.actor = b.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
			return New(Config{VHost: b.vhost, Registry: b.registry.pid, Clock: clock.New(), Log: zerolog.Nop()})
		}))
		test(b)
		if err := b.system.Root.StopFuture(b.actor).Wait(); err != nil {
			t.Fatal(err)
		}
		b.system.Shutdown()
	})
}

// publish sends commands as a channel would, numbered from 1.
func (b *bubble) publish(from *probe, commands ...message.Message) {
	e := &mail.Enqueue{From: from.pid, Messages: commands}
	for i := range e.Messages {
		e.Messages[i].Number = uint64(i + 1)
	}
	b.system.Root.Send(b.actor, e)
}

// publishing returns a command with reply-to and correlation-id.
func publishing(key, body string) message.Message {
	p := protocol.Properties{
		ReplyTo: "answers", CorrelationID: key, Flags: protocol.FlagReplyTo | protocol.FlagCorrelationID,
	}
	return message.Message{
		Exchange: []byte(topology.AdminExchange), RoutingKey: []byte(key), Body: []byte(body), Header: p.Append(nil),
		TTL: message.NoTTL,
	}
}

func (b *bubble) reply(what any) { b.system.Root.Send(b.actor, what) }

func next[T any](p *probe) T {
	p.Helper()
	synctest.Wait()
	var t T
	select {
	case m := <-p.got:
		t, ok := m.(T)
		if !ok {
			p.Fatalf("got %T, want %T", m, t)
		}
		return t
	default:
		p.Fatalf("got nothing, want %T", t)
		return t
	}
}

func (p *probe) quiet() {
	p.Helper()
	synctest.Wait()
	select {
	case m := <-p.got:
		p.Fatalf("got %T, want nothing", m)
	default:
	}
}

// expect checks the next answer in the queue.
func (b *bubble) expect(correlation, body string) {
	b.Helper()
	e := next[*mail.Enqueue](b.answers)
	m := &e.Messages[0]
	p, err := protocol.DecodeProperties(m.Header)
	if err != nil {
		b.Fatal(err)
	}
	if p.CorrelationID != correlation || p.ContentType != "application/json" || string(m.Body) != body {
		b.Errorf("\n got %s: %s\nwant %s: %s", p.CorrelationID, m.Body, correlation, body)
	}
	if string(m.RoutingKey) != "answers" || len(m.Exchange) != 0 || m.Number != 0 || m.TTL != message.NoTTL || !m.Owned {
		b.Errorf("%+v", m)
	}
}

const ttl = `{"name":"p","pattern":"^o","definition":{"message-ttl":60000},"priority":2}`

func TestCommandsAndAnswersInOrder(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.publish(b.channel, publishing("policy.set", ttl), publishing("policy.list", ""), publishing("policy.clear", `{"name":"p","vhost":"/"}`))
		if r := next[*mail.EnqueueReply](b.channel); r.Refused || len(r.Ranges) != 1 || r.Ranges[0] != (mail.Range{First: 1, Last: 3}) {
			t.Errorf("%+v", r)
		}
		s := next[*mail.SetPolicy](b.registry)
		l := next[*mail.ListPolicies](b.registry)
		c := next[*mail.ClearPolicy](b.registry)
		if p := s.Policy; p.Name != "p" || p.VHost != "/" || p.Operator || p.Priority != "2" || l.VHost != "/" || c.VHost != "/" || c.Name != "p" {
			t.Errorf("%+v, %+v, %+v", s.Policy, l, c)
		}

		b.reply(&mail.PolicyReply{Reply: c.Done(nil), Found: true})
		b.reply(&mail.PolicyList{Reply: l.Done(nil), Policies: []*policies.Policy{s.Policy}})
		b.answers.quiet()
		b.reply(&mail.PolicyReply{Reply: s.Done(nil)})
		b.reply(&mail.PolicyReply{Reply: s.Done(nil)}) // a duplicate is ignored
		b.expect("policy.set", `{"ok":true,"replaced":false}`)
		b.expect("policy.list", `{"ok":true,"policies":[{"vhost":"/","name":"p","pattern":"^o","apply-to":"all",`+
			`"definition":{"message-ttl":60000},"priority":2}]}`)
		b.expect("policy.clear", `{"ok":true}`)

		b.publish(b.channel, publishing("policy.set", ttl), publishing("policy.clear", ttl), publishing("policy.list", "{}"), publishing("policy.list", ""))
		b.reply(&mail.PolicyReply{Reply: mail.Reply{ID: 4}, Found: true})
		b.reply(&mail.PolicyReply{Reply: mail.Reply{ID: 5}})
		b.reply(&mail.PolicyList{Reply: mail.Reply{ID: 6}})
		b.reply(&mail.PolicyList{Reply: mail.Reply{ID: 7, Err: errors.New("broken")}})
		b.expect("policy.set", `{"ok":true,"replaced":true}`)
		b.expect("policy.clear", `{"error":"Object Not Found","reason":"Not Found"}`)
		b.expect("policy.list", `{"ok":true,"policies":[]}`)
		b.expect("policy.list", `{"error":"internal_error","reason":"broken"}`)
	})
}

func TestRefusals_POL14_POL15(t *testing.T) {
	operator := `{"error":"not_authorised","reason":"Not administrator user"}`
	inBubble(t, func(b *bubble) {
		for _, test := range []struct{ key, body, want string }{
			{"policy.forget", ttl, `{"error":"not_found","reason":"unknown command 'policy.forget'"}`},
			{"", ttl, `{"error":"not_found","reason":"unknown command ''"}`},
			{"exchange.set", ttl, `{"error":"not_found","reason":"unknown command 'exchange.set'"}`},
			{"operator_policy.set", ttl, operator},
			{"operator_policy.clear", `{"name":"p"}`, operator},
			{"operator_policy.set", "{", `{"error":"bad_request","reason":"not_json"}`},
			{"policy.set", "{", `{"error":"bad_request","reason":"not_json"}`},
			{"policy.set", "", `{"error":"bad_request","reason":"[{key_missing,name}]"}`},
			{"policy.clear", "{}", `{"error":"bad_request","reason":"[{key_missing,name}]"}`},
			{"policy.set", `{"name":"p"}`, `{"error":"bad_request","reason":"[{key_missing,pattern},{key_missing,definition}]"}`},
			{
				"policy.set", `{"name":"p","pattern":"","definition":{"message-ttl":"x<"}}`,
				`{"error":"bad_request","reason":"Validation failed\n\n<<\"x<\">> is not a valid message TTL\n"}`,
			},
			{
				"policy.set", `{"name":"p","vhost":"b","pattern":"","definition":{"message-ttl":1}}`,
				`{"error":"not_authorised","reason":"this exchange accepts only commands about the policies of vhost '/'"}`,
			},
		} {
			b.publish(b.channel, publishing(test.key, test.body))
			b.expect(test.key, test.want)
		}
		b.registry.quiet()
	})
}

// Operator policies can be changed by administrators, and listed by all users who can publish to the actor.
func TestOperatorPolicies_POL15(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.system.Root.Send(b.actor, &mail.Enqueue{From: b.channel.pid, By: &mail.Publisher{User: "root", Tags: []string{"administrator"}}, Messages: []message.Message{
			publishing("operator_policy.set", ttl), publishing("operator_policy.clear", ttl),
		}})
		if s := next[*mail.SetPolicy](b.registry); !s.Operator || !s.Policy.Operator || s.Policy.Name != "p" {
			t.Errorf("%+v %+v", s, s.Policy)
		}
		if c := next[*mail.ClearPolicy](b.registry); !c.Operator || c.Name != "p" {
			t.Errorf("%+v", c)
		}
		b.publish(b.channel, publishing("operator_policy.list", ""))
		if l := next[*mail.ListPolicies](b.registry); !l.Operator {
			t.Errorf("%+v", l)
		}
	})
}

// Commands that were not published directly to the admin exchange are ignored, since their sender's permissions were not checked.
func TestOnlyDirectPublishesAreObeyed(t *testing.T) {
	inBubble(t, func(b *bubble) {
		bound := publishing("policy.set", ttl)
		bound.Exchange = []byte("mine")
		dead := publishing("policy.set", ttl)
		dead.Overlay = (*message.Overlay)(nil).Died(message.Death{Queue: "q", Reason: "expired"})
		b.publish(b.channel, bound, dead)
		if r := next[*mail.EnqueueReply](b.channel); r.Refused || len(r.Ranges) != 1 {
			t.Errorf("%+v", r)
		}
		b.publish(b.deadLetter, publishing("policy.set", ttl))
		next[*mail.EnqueueReply](b.deadLetter)
		b.registry.quiet()
		b.answers.quiet()
	})
}

func TestNowhereToAnswer(t *testing.T) {
	inBubble(t, func(b *bubble) {
		silent := publishing("policy.clear", `{"name":"p"}`)
		silent.Header = protocol.Properties{}.Append(nil)
		gone := publishing("policy.clear", `{"name":"p"}`)
		gone.Header = protocol.Properties{ReplyTo: "gone", Flags: protocol.FlagReplyTo}.Append(nil)
		b.publish(b.channel, silent, gone, publishing("policy.clear", `{"name":"p"}`))
		for range 3 {
			c := next[*mail.ClearPolicy](b.registry)
			b.reply(&mail.PolicyReply{Reply: c.Done(nil), Found: true})
		}
		b.expect("policy.clear", `{"ok":true}`)
		b.answers.quiet()
	})
}

func TestRegistryDoesNotAnswer(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.publish(b.channel, publishing("policy.set", ttl))
		s := next[*mail.SetPolicy](b.registry)
		time.Sleep(patience - time.Millisecond)
		b.publish(b.channel, publishing("policy.clear", ttl))
		b.answers.quiet()
		time.Sleep(time.Millisecond)
		b.expect("policy.set", `{"error":"timeout","reason":"the broker did not answer in time"}`)
		b.reply(&mail.PolicyReply{Reply: s.Done(nil)}) // too late
		b.answers.quiet()
		time.Sleep(patience)
		b.expect("policy.clear", `{"error":"timeout","reason":"the broker did not answer in time"}`)
	})
}

func TestCreditIsGivenBack(t *testing.T) {
	inBubble(t, func(b *bubble) {
		gate := message.NewGate(1 << 20)
		chunk := gate.NewChunk(100)
		b.system.Root.Send(b.actor, &mail.Enqueue{From: b.channel.pid, Chunk: chunk, Messages: []message.Message{publishing("x", "")}})
		b.expect("x", `{"error":"not_found","reason":"unknown command 'x'"}`)
		if gate.Used() != 0 {
			t.Errorf("%d bytes are still charged", gate.Used())
		}
		b.channel.quiet() // the message had no publish number
	})
}
