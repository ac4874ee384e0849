package broker

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/internal/storage/store/memory"
	"candlemark/policies"
	"candlemark/supervision"

	"github.com/asynkron/protoactor-go/actor"
	amqp "github.com/rabbitmq/amqp091-go"
)

// faults makes actors panic, each fault once.
type faults struct {
	mu    sync.Mutex
	armed []string
	// poison, unless empty, is part of the names of actors that panic on every *mail.Activate.
	poison string
}

// arm has the next actor of the kind panic on a message of the type, such as *mail.Enqueue.
func (f *faults) arm(kind supervision.Kind, what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = append(f.armed, string(kind)+" "+what)
}

func (f *faults) check(who *actor.PID, what any) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, wakes := what.(*mail.Activate); wakes && f.poison != "" && strings.Contains(who.Id, f.poison) {
		return true
	}
	if len(f.armed) == 0 || f.armed[0] != fmt.Sprintf("%s %T", supervision.KindOf(who), what) {
		return false
	}
	f.armed = f.armed[1:]
	return true
}

// stage is a broker with an affected client and a fault to inject.
type stage struct {
	*testkit.Bubble
	*faults
	client *testkit.Client
	ch     *testkit.Channel
}

// dies checks the code with which the broker closed the client's connection.
func (s *stage) dies(code int) {
	s.Helper()
	if e := testkit.Receive(s.Bubble, s.client.Closed); e == nil || e.Code != code {
		s.Errorf("the connection was closed with %v, want %d", e, code)
	}
}

// fails checks that err is a close of the connection with code 541.
func (s *stage) fails(err error) {
	s.Helper()
	var e *amqp.Error
	if !errors.As(err, &e) || e.Code != 541 {
		s.Errorf("got %v, want 541", err)
	}
	s.dies(541)
}

// again opens a new connection and channel for the affected client, and returns the channel.
func (s *stage) again() *testkit.Channel {
	s.Helper()
	s.client = s.Connect()
	s.ch = s.client.Open()
	return s.ch
}

// bystander checks that other clients are served.
type bystander struct {
	*testkit.Channel
	deliveries <-chan amqp.Delivery
}

func (y *bystander) works(b *testkit.Bubble, body string) {
	b.Helper()
	if !y.Publish("amq.topic", "bystander", testkit.Text(body)) {
		b.Error("bystander: nack")
	}
	if d := testkit.Receive(b, y.deliveries); string(d.Body) != body {
		b.Errorf("bystander: got %s, want %s", d.Body, body)
	}
	y.Declare("bystander's new", nil)
	y.Bind("bystander's new", "new", "amq.topic")
	if _, err := y.QueueDelete("bystander's new", false, false, false); err != nil {
		b.Error("bystander:", err)
	}
}

var restartTable = []struct {
	name   string
	kind   supervision.Kind
	what   string // the message on which it panics
	before func(s *stage)
	after  func(s *stage)
}{
	{"queue over a publish", supervision.KindQueue, "*mail.Enqueue", func(s *stage) {
		s.ch.Declare("q", nil)
		s.ch.Tail("q")
		s.ch.Confirms()
	}, func(s *stage) {
		if s.ch.Publish("", "q", testkit.Text("m")) {
			s.Error("ack")
		}
		s.queueFailed()
	}},
	{"queue over a publish that waits for the journal", supervision.KindQueue, "*mail.Purge", func(s *stage) {
		s.durable()
		s.ch.Tail("q")
		s.ch.Confirms()
	}, func(s *stage) {
		confirms := []*amqp.DeferredConfirmation{}
		for range 3 {
			m := testkit.Text("m")
			m.DeliveryMode = amqp.Persistent
			confirms = append(confirms, s.ch.Begin("", "q", false, m))
		}
		go func() { _, _ = s.Connect().Open().QueuePurge("q", false) }()
		for _, c := range confirms {
			s.ch.Await(c) // ack or nack, but some answer
		}
		if tag := testkit.Receive(s.Bubble, s.ch.Cancelled); tag != "q-a" {
			s.Errorf("cancelled %s", tag)
		}
		s.durable() // the queue is restored
		s.ch.Tail("q")
		s.ch.Send("", "q", testkit.Text("more"))
	}},
	{"queue over a consumer", supervision.KindQueue, "*mail.Consume", func(s *stage) {
		s.ch.Declare("q", nil)
	}, func(s *stage) {
		_, err := s.ch.Consume("q", "", true, false, false, false, nil)
		s.fails(err)
		s.again().Declare("q", nil)
	}},
	{"queue over a declare", supervision.KindQueue, "*mail.DeclareQueue", func(s *stage) {
		s.durable()
	}, func(s *stage) {
		_, err := s.ch.QueueDeclarePassive("q", true, false, false, false, nil)
		s.fails(err)
		s.again()
		s.durable()
	}},
	{"queue over the declare that made it", supervision.KindQueue, "*mail.DeclareQueue", nil, func(s *stage) {
		_, err := s.ch.QueueDeclare("q", true, false, false, false, nil)
		s.fails(err)
		s.again()
		s.durable()
	}},
	{"queue over its deletion", supervision.KindQueue, "*mail.DeleteQueue", func(s *stage) {
		s.ch.Declare("q", nil)
	}, func(s *stage) {
		_, err := s.ch.QueueDelete("q", false, false, false)
		s.fails(err)
		s.again().Declare("q", nil)
	}},
	{"queue over its farewell", supervision.KindQueue, "*mail.QueueForgotten", func(s *stage) {
		s.ch.Declare("q", nil)
	}, func(s *stage) {
		_, err := s.ch.QueueDelete("q", false, false, false)
		s.fails(err)
		s.again().Declare("q", nil)
	}},
	{"queue over a get", supervision.KindQueue, "*mail.Get", func(s *stage) { s.ch.Declare("q", nil) }, func(s *stage) {
		_, _, err := s.ch.Get("q", true)
		s.fails(err)
		s.again().Declare("q", nil)
	}},
	{"queue over an ack", supervision.KindQueue, "*mail.Settle", func(s *stage) { s.ch.Declare("q", nil) }, func(s *stage) {
		s.ch.Send("", "q", testkit.Text("m"))
		d := testkit.Receive(s.Bubble, s.ch.Subscribe("q", 1))
		_ = d.Ack(false)
		s.queueFailed()
	}},
	{"queue over its timer", supervision.KindQueue, "queue.timerFired", func(s *stage) {
		s.ch.Declare("q", amqp.Table{"x-message-ttl": 100})
	}, func(s *stage) {
		s.ch.Send("", "q", testkit.Text("m"))
		s.Advance(time.Second)
		s.ch.Declare("q", nil) // a new queue: the arguments differ
	}},
	{"channel over what the client sent", supervision.KindChannel, "*mail.Inbound", func(s *stage) {
		s.ch.Declare("q", nil)
		s.ch.Send("", "q", testkit.Text("m"))
		synctest.Wait()
		testkit.Receive(s.Bubble, s.ch.Subscribe("q", 1))
	}, func(s *stage) {
		_ = s.ch.Qos(1, 0, false)
		s.dies(541)
		if d := s.again().Fetch("q"); d == nil || !d.Redelivered {
			s.Errorf("what it held came back as %+v", d)
		}
	}},
	{"channel over a delivery", supervision.KindChannel, "*mail.Deliver", func(s *stage) { s.ch.Declare("q", nil) }, func(s *stage) {
		s.ch.Send("", "q", testkit.Text("m"))
		s.ch.Subscribe("q", 1)
		s.dies(541)
		if d := s.again().Fetch("q"); d == nil {
			s.Error("what was delivered is lost")
		}
	}},
	{"connection over a new channel", supervision.KindConnection, "*connection.openChannel", func(s *stage) {
		if _, err := s.ch.QueueDeclare("mine", false, false, true, false, nil); err != nil {
			s.Fatal(err)
		}
		s.ch.Declare("q", nil)
		s.ch.Send("", "q", testkit.Text("m"))
		testkit.Receive(s.Bubble, s.ch.Subscribe("q", 1))
	}, func(s *stage) {
		if _, err := s.client.Channel(); err == nil {
			s.Error("the channel was opened")
		}
		s.dies(501) // the client library's code for a closed socket
		synctest.Wait()
		if s.Queue("mine") != nil {
			s.Error("the exclusive queue is still there")
		}
		if d := s.again().Fetch("q"); d == nil || !d.Redelivered {
			s.Errorf("what it held came back as %+v", d)
		}
	}},
	{"connection over its end", supervision.KindConnection, "*mail.ChannelClosed", nil, func(s *stage) {
		_ = s.client.Close()
		s.again().Declare("q", nil)
	}},
	{"exchange over a binding", supervision.KindExchange, "*mail.AddBinding", func(s *stage) { s.ch.Declare("q", nil) }, func(s *stage) {
		s.fails(s.ch.QueueBind("q", "k", "amq.topic", false, nil))
		s.again().Bind("q", "k", "amq.topic")
	}},
	{"vhost over a declare", supervision.KindVHost, "*mail.DeclareQueue", nil, func(s *stage) {
		_, err := s.ch.QueueDeclare("q", false, false, false, false, nil)
		s.fails(err)
		s.again().Declare("q", nil)
	}},
	{"vhost over an exchange", supervision.KindVHost, "*mail.DeclareExchange", nil, func(s *stage) {
		s.fails(s.ch.ExchangeDeclare("x", "direct", false, false, false, false, nil))
		s.again().Declare("q", nil)
	}},
	{"vhost over the end of a lease", supervision.KindVHost, "*mail.QueueRetiring", func(s *stage) {
		s.ch.Declare("q", amqp.Table{"x-expires": 1000})
	}, func(s *stage) {
		s.Advance(1500 * ms)
		s.ch.Confirms()
		if !s.ch.Publish("", "q", testkit.Text("m")) {
			s.Error("nack")
		}
		s.Advance(time.Second)
		if s.Queue("q") != nil {
			s.Error("the queue is there for ever")
		}
		s.ch.Declare("q", nil)
	}},
	{"vhost over a deletion", supervision.KindVHost, "*mail.QueueRetiring", func(s *stage) {
		s.ch.Declare("q", nil)
	}, func(s *stage) {
		if _, err := s.ch.QueueDelete("q", false, false, false); err != nil { // a deletion that was decided is carried out
			s.Error(err)
		}
		s.ch.Declare("q", nil)
	}},
	{"vhost over an exclusive queue's owner", supervision.KindVHost, "*mail.ReleaseConnection", func(s *stage) {
		if _, err := s.ch.QueueDeclare("q", false, false, true, false, nil); err != nil {
			s.Fatal(err)
		}
	}, func(s *stage) {
		s.client.Leave()
		synctest.Wait()
		s.again().Declare("q", nil)
	}},
	{"vhost over a policy", supervision.KindVHost, "*mail.ApplyPolicies", nil, func(s *stage) {
		s.SetPolicy("p", `{"pattern":"^q$","definition":{"max-length":1}}`) // is answered
		s.SetPolicy("p", `{"pattern":"^q$","definition":{"max-length":2}}`)
		s.ch.Declare("q", nil)
		if got := s.Describe("q").Settings.MaxLength; got != 2 {
			s.Errorf("max-length %d", got)
		}
	}},
	{"deadletter over what died", supervision.KindDeadLetter, "*mail.DeadLetter", deadLetterSetup, deadLetterGoesOn},
	{"deadletter over an answer", supervision.KindDeadLetter, "*mail.EnqueueReply", deadLetterSetup, deadLetterGoesOn},
	{"registry", supervision.KindRegistry, "*mail.SetPolicy", func(s *stage) {
		s.SetPolicy("first", `{"pattern":"^q$","definition":{"max-length":1}}`)
	}, func(s *stage) {
		p, err := policies.Parse("/", "p", false, []byte(`{"pattern":"z","definition":{"max-length":1}}`))
		if err != nil {
			s.Fatal(err)
		}
		r := testkit.Ask[*mail.PolicyReply](s.Bubble, s.Actor("policies"), func(r mail.Request) any {
			return &mail.SetPolicy{Request: r, Policy: p}
		})
		if r.Err != nil { // the policy was applied before the notification of it failed, which is sent again
			s.Error(r.Err)
		}
		s.SetPolicy("second", `{"pattern":"z","definition":{"max-length":1}}`)
		list := testkit.Ask[*mail.PolicyList](s.Bubble, s.Actor("policies"), func(r mail.Request) any {
			return &mail.ListPolicies{Request: r}
		})
		if len(list.Policies) != 3 {
			s.Errorf("%d policies are left", len(list.Policies))
		}
	}},
	{"admin over a command", supervision.KindAdmin, "*mail.Enqueue", func(s *stage) {
		s.ch.Declare("answers", nil)
		s.ch.Confirms()
	}, func(s *stage) {
		command := amqp.Publishing{ReplyTo: "answers", Body: []byte(`{"name":"p","pattern":"x","definition":{"max-length":1}}`)}
		if s.ch.Publish("candlemark.admin", "policy.set", command) {
			s.Error("ack")
		}
		if !s.ch.Publish("candlemark.admin", "policy.set", command) {
			s.Error("the second: nack")
		}
		answers := s.ch.Tail("answers")
		for d := testkit.Receive(s.Bubble, answers); string(d.Body) != `{"ok":true,"replaced":false}`; d = testkit.Receive(s.Bubble, answers) {
			s.Logf("answer %s", d.Body)
		}
	}},
	{"shovel when its session begins", supervision.KindShovel, "*shovel.connected", func(s *stage) {
		s.durable()
		fill(s.ch, "q", 0, 100)
	}, func(s *stage) {
		putShovel(s.Bubble, "s", map[string]any{"src-queue": "q", "dest-queue": "to"})
		await(s.Bubble, "running")
		s.Advance(time.Minute)
		if got := s.ch.Drain("to"); len(got) < 100 {
			s.Errorf("moved %q", got)
		}
	}},
	{"recurring when a queue has taken a run", supervision.KindRecurring, "*mail.EnqueueReply", func(s *stage) {
		s.durable()
		putSchedule(s.Bubble, "tick", `{"cron":"*/10 * * * * *","queue":"q","body":"x"}`)
	}, func(s *stage) {
		s.AdvanceTo(45 * time.Second)
		if got := fmt.Sprint(drain(s.Bubble, s.ch, "q")); got != "[10 20 30 40]" {
			s.Errorf("runs %s, want each once", got)
		}
	}},
	{"queue over a run of a schedule", supervision.KindQueue, "*mail.Enqueue", func(s *stage) {
		s.durable()
		putSchedule(s.Bubble, "tick", `{"cron":"*/10 * * * * *","queue":"q","body":"x"}`)
	}, func(s *stage) {
		s.AdvanceTo(45 * time.Second)
		if got := fmt.Sprint(drain(s.Bubble, s.ch, "q")); got != "[10 20 30 40]" {
			s.Errorf("runs %s, want each once", got)
		}
	}},
	{"move when it has claimed messages", supervision.KindMove, "*mail.ClaimReply", func(s *stage) {
		s.durable()
		fill(s.ch, "q", 0, 100)
		s.ch.Declare("to", nil)
	}, func(s *stage) {
		w := bubbleWeb(s.Bubble)
		if m := w.moves(s.Bubble, "q", `{"to":{"queue":"to"}}`); m.State != "failed" {
			s.Errorf("%+v", m)
		}
		s.Advance(time.Second)
		if q := s.Describe("q"); q.Ready != 100 || q.Unacked != 0 {
			s.Errorf("%+v", q)
		}
		if m := w.moves(s.Bubble, "q", `{"to":{"queue":"to"}}`); m.State != "finished" || m.Moved != 100 {
			s.Errorf("%+v", m)
		}
	}},
}

// durable declares q as a durable queue.
func (s *stage) durable() {
	s.Helper()
	if _, err := s.ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		s.Fatal(err)
	}
}

// queueFailed checks that the consumer of q was cancelled and the name is free.
func (s *stage) queueFailed() {
	s.Helper()
	if tag := testkit.Receive(s.Bubble, s.ch.Cancelled); tag != "q-a" {
		s.Errorf("cancelled %s", tag)
	}
	synctest.Wait()
	s.ch.Declare("q", amqp.Table{"x-max-length": 7}) // a new queue: the arguments differ
	s.ch.Send("", "q", testkit.Text("new"))
	if got := s.ch.Drain("q"); len(got) != 1 {
		s.Errorf("the new queue holds %v", got)
	}
}

func deadLetterSetup(s *stage) {
	s.ch.Declare("dead", nil)
	s.ch.Declare("q", deadTo("dead", "x-message-ttl", 10))
	s.ch.Confirms()
}

// deadLetterGoesOn checks that no dead letter is lost; some may arrive twice.
func deadLetterGoesOn(s *stage) {
	const count = 20
	for i := range count {
		s.ch.Begin("", "q", false, testkit.Text(fmt.Sprint(i)))
		if i%5 == 4 {
			s.Advance(20 * ms)
		}
	}
	s.Advance(time.Second)
	seen := map[string]bool{}
	for _, body := range s.ch.Drain("dead") {
		seen[body] = true
	}
	if len(seen) != count {
		s.Errorf("%d of %d reached the dead-letter queue", len(seen), count)
	}
	if n := s.Describe("q"); n.Ready+n.Unacked != 0 {
		s.Errorf("q: %+v", n)
	}
}

// Actors of every kind panic; their clients are told what they need to know, all others are served, and the failure is counted
// and logged (ADR 2).
func TestRestartTable(t *testing.T) {
	kinds := map[supervision.Kind]bool{}
	for _, tc := range restartTable {
		kinds[tc.kind] = true
		t.Run(tc.name, func(t *testing.T) {
			f := &faults{}
			testkit.Run(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
				b.Log.Allow("actor panicked", "panicked while it handled a mail", "a queue ended unexpectedly", "a queue ended after a panic",
					"INTERNAL_ERROR", "closing connection")
				y := &bystander{Channel: b.Connect().Open()}
				y.Declare("bystander", nil)
				y.Bind("bystander", "bystander", "amq.topic")
				y.Confirms()
				y.deliveries = y.Tail("bystander")
				s := &stage{Bubble: b, faults: f}
				s.again()
				y.works(b, "before")
				if tc.before != nil {
					tc.before(s)
				}
				synctest.Wait()
				f.arm(tc.kind, tc.what)
				tc.after(s)
				y.works(b, "after")
				synctest.Wait()
				if n := b.Node.Failures.Count(tc.kind); n != 1 {
					t.Errorf("%d failures were counted", n)
				}
				if n := b.Log.Count("actor panicked"); n != 1 {
					t.Errorf("%d failures were logged", n)
				}
			})
		})
	}
	for kind := range supervision.Table {
		if !kinds[kind] {
			t.Errorf("no case for %s", kind)
		}
	}
}

// Actors that keep their state resume after any number of panics, so that no client can bring down actors shared with
// others.
func TestResumeHasNoLimit(t *testing.T) {
	f := &faults{}
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		b.Log.Allow("actor panicked", "panicked while it handled a mail", "closing connection")
		const times = 30
		for range times {
			f.arm(supervision.KindVHost, "*mail.DeclareQueue")
			s := &stage{Bubble: b, faults: f}
			_, err := s.again().QueueDeclare("q", false, false, false, false, nil)
			s.fails(err)
		}
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		if n := b.Node.Failures.Count(supervision.KindVHost); n != times {
			t.Errorf("%d failures were counted", n)
		}
	})
}

// The dead-letter actor is restarted after any number of failures, after pauses, and no dead letter is lost in between.
func TestDeadLetterComesBack(t *testing.T) {
	f := &faults{}
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		b.Log.Allow("actor panicked")
		s := &stage{Bubble: b, faults: f}
		s.again()
		deadLetterSetup(s)
		const times = 14
		for range times {
			f.arm(supervision.KindDeadLetter, "*mail.DeadLetter")
		}
		s.ch.Publish("", "q", testkit.Text("first"))
		b.Advance(100 * ms)
		if n := b.Node.Failures.Count(supervision.KindDeadLetter); n != 11 {
			t.Errorf("%d failures before the first pause", n)
		}
		s.ch.Publish("", "q", testkit.Text("second"))
		b.Advance(time.Minute)
		if n := b.Node.Failures.Count(supervision.KindDeadLetter); n != times {
			t.Errorf("%d failures were counted", n)
		}
		if got := s.ch.Drain("dead"); len(got) != 2 || got[0] != "first" || got[1] != "second" {
			t.Errorf("dead letters %q", got)
		}
		deadLetterGoesOn(s)
	})
}

// The root actor has no supervisor: it resumes.
func TestRootSurvives(t *testing.T) {
	f := &faults{}
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		b.Log.Allow("actor panicked")
		ch := b.Connect().Open()
		f.arm("", "supervision.accepted")
		ours, theirs := net.Pipe()
		b.Node.Connect(ours)
		if _, err := theirs.Read(make([]byte, 1)); err == nil {
			t.Error("read something")
		}
		b.Connect().Open().Declare("q", nil)
		ch.Declare("q", nil)
	})
}

// The start fails with an error if the root actor fails during it.
func TestStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faults{}
		f.arm("", "*actor.Started")
		journal := memory.New(memory.Options{})
		defer journal.Close()
		node, err := supervision.Start(supervision.Config{Fault: f.check, Journal: journal})
		if err == nil {
			t.Error("it has started", node.Stop(t.Context()))
		}
		time.Sleep(time.Second)
	})
}
