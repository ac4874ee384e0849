package testkit

import (
	"testing/synctest"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
)

// Probe is an actor that records the mail it gets.
type Probe struct {
	PID  *actor.PID
	mail chan any
	b    *Bubble
}

// Probe spawns a probe; it ends with Close.
func (b *Bubble) Probe() *Probe { return b.probe(1 << 16) }

// probe spawns a probe with room for this many mails.
func (b *Bubble) probe(room int) *Probe {
	p := &Probe{mail: make(chan any, room), b: b}
	p.PID = b.Node.System().Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *actor.Started, *actor.Stopping, *actor.Stopped:
		default:
			p.mail <- m
		}
	}))
	return p
}

// Close ends the probe.
func (p *Probe) Close() { p.b.Node.System().Root.Stop(p.PID) }

// Next returns the oldest mail not yet returned.
func (p *Probe) Next() any {
	p.b.Helper()
	return Receive(p.b, p.mail)
}

// All returns all mail so far that is not yet returned.
func (p *Probe) All() (all []any) {
	synctest.Wait()
	for len(p.mail) > 0 {
		all = append(all, <-p.mail)
	}
	return all
}

// Ask sends the mail returned by question and waits for an answer of type T.
func Ask[T any](b *Bubble, to mail.Address, question func(mail.Request) any) T {
	b.Helper()
	p := b.probe(1)
	defer p.Close()
	actorlib.Send(b.Node.System().Root, to, question(mail.Request{ReplyTo: p.PID, ID: 1}))
	reply := p.Next()
	answer, ok := reply.(T)
	if !ok {
		b.Fatalf("answered with %T", reply)
	}
	return answer
}

// Describe requests the description of a queue, which renews no lease.
func (b *Bubble) Describe(name string) *mail.QueueInfo {
	b.Helper()
	q := b.Queue(name)
	if q == nil {
		b.Fatalf("no queue %s", name)
	}
	return Ask[*mail.QueueInfo](b, q.PID, func(r mail.Request) any { return &mail.DescribeQueue{Request: r} })
}

// SetPolicy sets a policy in /; body is as in the HTTP API (POL-12).
func (b *Bubble) SetPolicy(name, body string) {
	b.Helper()
	b.SetPolicyIn("/", name, body)
}

// SetPolicyIn sets a policy in any virtual host.
func (b *Bubble) SetPolicyIn(vhost, name, body string) {
	b.Helper()
	p, err := policies.Parse(vhost, name, false, []byte(body))
	if err != nil {
		b.Fatal("policy:", err)
	}
	reply := Ask[*mail.PolicyReply](b, b.Actor("policies"), func(r mail.Request) any {
		return &mail.SetPolicy{Request: r, Policy: p}
	})
	if reply.Err != nil {
		b.Fatal("policy:", reply.Err)
	}
}

// ClearPolicy removes a policy.
func (b *Bubble) ClearPolicy(name string) {
	b.Helper()
	reply := Ask[*mail.PolicyReply](b, b.Actor("policies"), func(r mail.Request) any {
		return &mail.ClearPolicy{Request: r, VHost: "/", Name: name}
	})
	if reply.Err != nil || !reply.Found {
		b.Fatalf("policy: found %v, %v", reply.Found, reply.Err)
	}
}
