package queue

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/actors/system/mailbox"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/memory"
	"candlemark/internal/transport/budget"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// rig is a queue actor in a bubble, with probes around it.
type rig struct {
	t       *testing.T
	system  *actor.ActorSystem
	queue   *actor.PID
	vhost   *probe
	dead    *probe
	channel *probe
	options memory.Options
	journal *memory.Journal
	fired   atomic.Int64
	config  Config
	spawn   func() // starts the queue
	shell   *queue // inspected while it is idle
}

// probe is an actor that records its mail with the time of arrival.
type probe struct {
	pid  *actor.PID
	mail chan arrival
	// react, unless nil, handles a mail in the probe's turn, too.
	react func(ctx actor.Context, what any)
}

type arrival struct {
	at   time.Time
	what any
}

type spawn struct{ props *actor.Props }

func (p *probe) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case actor.AutoReceiveMessage, actor.SystemMessage:
		return
	case spawn:
		ctx.Respond(ctx.Spawn(m.props))
		return
	default:
		p.mail <- arrival{time.Now(), m}
		if p.react != nil {
			p.react(ctx, m)
		}
	}
}

func newProbe(system *actor.ActorSystem, options ...actor.PropsOption) *probe {
	p := &probe{mail: make(chan arrival, 200_000)}
	p.pid = system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return p }, options...))
	return p
}

// got takes every mail of one type from the probe.
func got[T any](p *probe) []T {
	var found []T
	for n := len(p.mail); n > 0; n-- {
		a := <-p.mail
		if m, ok := a.what.(T); ok {
			found = append(found, m)
		} else {
			p.mail <- a
		}
	}
	return found
}

// bubble runs test on a queue; change, unless nil, changes its configuration first.
func bubble(t *testing.T, s policies.QueueSettings, change func(r *rig), test func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t}
		r.system = actor.NewActorSystemWithConfig(actor.Configure(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })))
		defer r.system.Shutdown()
		dispatcher := mailbox.NewDispatcher(2)
		defer dispatcher.Stop()
		stop := actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })
		r.vhost = newProbe(r.system, actor.WithSupervisor(stop))
		r.dead, r.channel = newProbe(r.system), newProbe(r.system)
		late := r.setUp(s, change)
		fault := r.config.Fault
		r.config.Fault = func(what any) {
			if l, ok := what.(look); ok {
				l.at(&r.shell.state)
				close(l.done)
			}
			fault(what)
		}
		r.spawn = func() {
			box := mailbox.New(late)
			r.config.Close = box.Close
			future := r.system.Root.RequestFuture(r.vhost.pid, spawn{actor.PropsFromProducer(
				func() actor.Actor { r.shell = New(r.config).(*queue); return r.shell },
				actor.WithMailbox(func() actor.Mailbox { return box }), actor.WithDispatcher(dispatcher))}, time.Second)
			pid, err := future.Result()
			if err != nil {
				t.Fatal(err)
			}
			r.queue = pid.(*actor.PID)
		}
		r.spawn()
		defer func() {
			for _, p := range []*probe{r.vhost, r.dead, r.channel} {
				_ = r.system.Root.StopFuture(p.pid).Wait()
			}
			_ = r.journal.Close()
			time.Sleep(time.Minute) // the actor library counts undeliverable mail per second
			synctest.Wait()
		}()
		synctest.Wait()
		test(r)
	})
}

// setUp makes the configuration, and returns a handler that answers undeliverable mail like the broker.
func (r *rig) setUp(s policies.QueueSettings, change func(r *rig)) (late func(what any)) {
	r.config = testConfig(s)
	r.config.VHost.PID, r.config.VHost.DeadLetter = r.vhost.pid, r.dead.pid
	log := zerolog.Nop()
	r.config.Clock, r.config.Log = clock.New(), &log
	r.options.Keep = true
	r.config.Fault = func(what any) {
		if _, ok := what.(timerFired); ok {
			r.fired.Add(1)
		}
	}
	if change != nil {
		change(r)
	}
	r.journal = memory.New(r.options)
	r.config.Journal = r.journal
	late = func(what any) {
		if a, ok := what.(mail.Answerable); ok {
			if to, reply := a.Answer(mail.Gone); to != nil {
				actorlib.Send(r.system.Root, to, reply)
			}
		}
	}
	r.system.EventStream.Subscribe(func(event any) {
		if d, ok := event.(*actor.DeadLetterEvent); ok {
			late(d.Message)
		}
	})
	return late
}

// send sends mails to the queue.
func (r *rig) send(mails ...any) {
	for _, m := range mails {
		r.system.Root.Send(r.queue, m)
	}
}

// settled sends mails and waits until all actors are idle.
func (r *rig) settled(mails ...any) {
	r.send(mails...)
	synctest.Wait()
}

// forget answers a farewell like a vhost without newer mail for the queue.
func forget(after time.Duration) func(ctx actor.Context, what any) {
	ends, forgotten := answer(&mail.QueueEnding{}, after), answer(&mail.QueueForgotten{}, after)
	return func(ctx actor.Context, what any) {
		if m, ok := what.(*mail.QueueRetiring); ok && m.Ending != "" {
			ends(ctx, what)
		} else {
			forgotten(ctx, what)
		}
	}
}

func answer(with any, after time.Duration) func(ctx actor.Context, what any) {
	return func(ctx actor.Context, what any) {
		if m, ok := what.(*mail.QueueRetiring); ok {
			root := ctx.ActorSystem().Root
			time.AfterFunc(after, func() { actorlib.Send(root, m.Queue, with) })
		}
	}
}

func batch(from *probe, messages ...message.Message) *mail.Enqueue {
	return &mail.Enqueue{From: from.pid, Messages: messages}
}

func numbered(n uint64, ttl int64) message.Message {
	m := msg(fmt.Sprint(n), ttl)
	m.Number = n
	return m
}

// answers returns how often each number was confirmed and refused.
func answers(p *probe) (acks, nacks map[uint64]int) {
	acks, nacks = map[uint64]int{}, map[uint64]int{}
	for _, m := range got[*mail.EnqueueReply](p) {
		for _, x := range m.Ranges {
			for n := x.First; n <= x.Last; n++ {
				if m.Refused {
					nacks[n]++
				} else {
					acks[n]++
				}
			}
		}
	}
	return acks, nacks
}

// TestTimer_TTL30: a thousand deadlines in random order are each met exactly, to the nanosecond.
func TestTimer_TTL30(t *testing.T) {
	bubble(t, settings(dlx), nil, func(r *rig) {
		start := time.Now()
		for i := range uint64(1000) {
			r.send(batch(r.channel, numbered(i+1, 1+rand.Int64N(172_800_000))))
		}
		time.Sleep(49 * time.Hour)
		synctest.Wait()
		n := 0
		for range len(r.dead.mail) {
			a := <-r.dead.mail
			for _, d := range a.what.(*mail.DeadLetter).Messages {
				if late := a.at.Sub(start) - time.Duration(d.TTL)*time.Millisecond; late != 0 {
					t.Errorf("TTL %d: %s late", d.TTL, late)
				}
				n++
			}
		}
		if n != 1000 {
			t.Errorf("%d died", n)
		}
	})
}

// TestOneTimer_LEASE13: the earliest deadline may change any number of times: at most one firing is under way.
func TestOneTimer_LEASE13(t *testing.T) {
	bubble(t, settings(expires(500)), nil, func(r *rig) {
		for ttl := int64(1000); ttl > 0; ttl-- { // earlier each time
			r.settled(batch(r.channel, msg("m", ttl)), redeclare())
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if n := r.fired.Load(); n != 100 {
			t.Errorf("%d firings for 100 deadlines", n)
		}
		r.settled(&mail.Purge{}) // only the lease is left to wait for
		time.Sleep(399 * time.Millisecond)
		if n := r.fired.Load(); n > 101 {
			t.Errorf("%d firings", n)
		}
		time.Sleep(time.Hour) // the vhost does not answer: nothing is due
		synctest.Wait()
		if n := r.fired.Load(); n > 102 || len(got[*mail.QueueRetiring](r.vhost)) != 1 {
			t.Errorf("%d firings", n)
		}
	})
}

func TestLongLease_LEASE4(t *testing.T) {
	bubble(t, settings(expires(48*3600_000)), func(r *rig) { r.vhost.react = forget(0) }, func(r *rig) {
		start := time.Now()
		time.Sleep(47 * time.Hour)
		r.settled(&mail.Get{Request: mail.Request{ReplyTo: r.channel.pid}, Channel: r.channel.pid})
		time.Sleep(47 * time.Hour)
		r.settled(batch(r.channel, numbered(1, -1)))
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if len(r.dead.mail) == 0 {
			t.Fatal("did not expire")
		}
		a := <-r.dead.mail
		if m, ok := a.what.(*mail.QueueExpired); !ok || m.Discarded != 1 || a.at.Sub(start) != 95*time.Hour {
			t.Errorf("%T after %s", a.what, a.at.Sub(start))
		}
	})
}

// TestFarewellForgotten_LEASE8: mail races the deadline before, while and after the vhost forgets the queue; each publish is
// answered once (LEASE-8).
func TestFarewellForgotten_LEASE8(t *testing.T) {
	bubble(t, settings(expires(100)), func(r *rig) {
		r.config.Queue.Durable = true
		r.vhost.react = forget(3 * time.Millisecond)
	}, func(r *rig) {
		const n = 4000
		for i := uint64(1); i <= n; i++ {
			m := numbered(i, -1)
			setPersistent(&m, i%2 == 0)
			r.send(batch(r.channel, m))
			if i%20 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		synctest.Wait()
		acks, nacks := answers(r.channel)
		for i := uint64(1); i <= n; i++ {
			if acks[i] != 1 || nacks[i] != 0 {
				t.Fatalf("%d: %d acks, %d nacks", i, acks[i], nacks[i])
			}
		}
		m := got[*mail.QueueExpired](r.dead)
		if len(m) != 1 || m[0].Discarded == 0 || m[0].Discarded == n {
			t.Fatalf("%+v", m)
		}
		records := r.journal.Replay(7)
		if last := records[len(records)-1]; last.Kind != store.Retire || len(replayed(records)) != 0 {
			t.Fatalf("last record %+v", last)
		}
		r.settled(&mail.Get{Request: mail.Request{ReplyTo: r.channel.pid}, Queue: "q", VHost: "/"})
		if g := got[*mail.GetReply](r.channel); len(g) != 1 || g[0].Err == nil {
			t.Fatal("a queue that is gone answered a get")
		}
	})
}

// TestFarewellKept_LEASE4: the queue was declared again in time; mail received in the meantime is neither lost nor
// reordered.
func TestFarewellKept_LEASE4(t *testing.T) {
	bubble(t, settings(expires(100)), func(r *rig) {
		r.vhost.react = answer(&mail.QueueKept{}, 3*time.Millisecond)
	}, func(r *rig) {
		const n = 4000
		for i := uint64(1); i <= n; i++ {
			r.send(batch(r.channel, numbered(i, -1)))
			if i%20 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		synctest.Wait()
		if m := got[*mail.QueueRetiring](r.vhost); len(m) != 1 && len(m) != 2 {
			t.Fatalf("%d farewells", len(m))
		}
		acks, nacks := answers(r.channel)
		if len(acks) != n || len(nacks) != 0 {
			t.Fatalf("%d acks, %d nacks", len(acks), len(nacks))
		}
		for i := range n {
			r.settled(&mail.Get{Request: mail.Request{ReplyTo: r.channel.pid}, Channel: r.channel.pid, NoAck: true})
			g := got[*mail.GetReply](r.channel)
			if len(g) != 1 || string(g[0].Delivery.Message.Body) != fmt.Sprint(i+1) {
				t.Fatalf("%d: %+v", i+1, g)
			}
		}
	})
}

// TestRacingMailIsDeadLettered_LEASE13: the backlog and all messages that race the deadline are dead-lettered.
func TestRacingMailIsDeadLettered_LEASE13(t *testing.T) {
	bubble(t, settings(expires(100), dlx, withBacklog), func(r *rig) {
		r.vhost.react = forget(3 * time.Millisecond)
		r.dead.react = func(ctx actor.Context, what any) {
			if m, ok := what.(*mail.DeadLetter); ok {
				reply := &mail.DeadLetterReply{Incarnation: m.Incarnation}
				for _, d := range m.Messages {
					reply.Add(d.Number)
				}
				root := ctx.ActorSystem().Root
				time.AfterFunc(time.Millisecond, func() { actorlib.Send(root, m.From, reply) })
			}
		}
	}, func(r *rig) {
		const n = 2100 // up to 105 ms
		for i := uint64(1); i <= n; i++ {
			r.send(batch(r.channel, numbered(i, -1)))
			if i%20 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		dead := map[string]int{}
		for _, l := range got[*mail.DeadLetter](r.dead) {
			for _, d := range l.Messages {
				dead[l.Reason+" "+string(d.Body)]++
			}
		}
		acks, nacks := answers(r.channel)
		const last = n - 40 // later ones arrive after its end, and then without any message left are nacks
		if len(acks)+len(nacks) != n {
			t.Fatalf("%d acks, nacks %v", len(acks), nacks)
		}
		for i := 1; i <= last; i++ {
			if acks[uint64(i)] != 1 {
				t.Fatalf("%d: %d acks", i, acks[uint64(i)])
			}
			if dead[fmt.Sprintf("expired %d", i)] != 1 {
				t.Fatalf("%d was dead-lettered %d times", i, dead[fmt.Sprintf("expired %d", i)])
			}
		}
	})
}

// TestPanic: consumers are cancelled, publishes are refused, and every waiting request is answered (ADR 2).
func TestPanic(t *testing.T) {
	faults := map[string]func(what any) bool{
		"a publish":    func(what any) bool { e, ok := what.(*mail.Enqueue); return ok && e.Messages[0].Number == 3 },
		"a timer":      func(what any) bool { _, ok := what.(timerFired); return ok },
		"a describe":   func(what any) bool { _, ok := what.(*mail.DescribeQueue); return ok },
		"the farewell": func(what any) bool { _, ok := what.(*mail.QueueForgotten); return ok },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			bubble(t, settings(ttl(1000)), func(r *rig) {
				r.config.Queue.Durable = true
				r.options.Delay = time.Hour
				r.config.Fault = func(what any) {
					if fault(what) {
						panic("injected")
					}
				}
				r.vhost.react = forget(0)
			}, func(r *rig) { panicOver(r, name) })
		})
	}
}

func panicOver(r *rig, name string) {
	gate := message.NewGate(1000)
	chunk := gate.NewChunk(10)
	request := mail.Request{ReplyTo: r.channel.pid}
	r.settled(&mail.Consume{Request: request, Channel: r.channel.pid, Tag: "x", Prefetch: 1})
	stored := numbered(1, -1)
	setPersistent(&stored, true)
	r.settled(batch(r.channel, stored, numbered(2, -1)))
	flood := batch(r.channel, slices.Repeat([]message.Message{numbered(0, -1)}, 40)...) // its credit is held back
	third, fourth := batch(r.channel, numbered(3, -1)), batch(r.channel, numbered(4, -1))
	for _, e := range []*mail.Enqueue{flood, third, fourth} {
		chunk.Retain()
		e.Chunk = chunk
	}
	r.send(flood, third, &mail.DescribeQueue{Request: request})
	if name == "the farewell" {
		r.send(&mail.DeleteQueue{Request: request})
	}
	r.settled(fourth, &mail.Get{Request: request, Channel: r.channel.pid})
	time.Sleep(2 * time.Second)
	synctest.Wait()
	chunk.Release()

	if c := got[*mail.ConsumerCancelled](r.channel); len(c) != 1 || c[0].Tag != "x" {
		r.t.Errorf("%d consumers were cancelled", len(c))
	}
	acks, nacks := answers(r.channel)
	for n := uint64(1); n <= 4; n++ {
		if acks[n]+nacks[n] != 1 {
			r.t.Errorf("%d: %d acks, %d nacks", n, acks[n], nacks[n])
		}
	}
	if nacks[1] != 1 {
		r.t.Error("what was not stored yet was confirmed")
	}
	if name == "a publish" && nacks[3] != 1 {
		r.t.Error("the publish that broke the queue was confirmed")
	}
	if g, d := len(got[*mail.GetReply](r.channel)), len(got[*mail.QueueInfo](r.channel)); g != 1 || d != 1 {
		r.t.Errorf("%d answers to get, %d to describe", g, d)
	}
	if name == "the farewell" {
		if d := got[*mail.DeleteQueueReply](r.channel); len(d) != 1 || d[0].Err == nil {
			r.t.Errorf("%d answers to delete", len(d))
		}
	}
	if gate.Used() != 0 {
		r.t.Errorf("%d bytes stay charged to the publisher", gate.Used())
	}
}

// TestChannelDies_TTL16: a channel's deliveries are requeued when the watched channel ends, without a ChannelGone (PRO-7).
func TestChannelDies_TTL16(t *testing.T) {
	bubble(t, settings(), nil, func(r *rig) {
		second := newProbe(r.system)
		r.settled(&mail.Consume{Request: mail.Request{ReplyTo: second.pid}, Channel: second.pid, Tag: "x", Prefetch: 10},
			batch(r.channel, numbered(1, -1), numbered(2, -1)))
		if d := got[*mail.Deliver](second); len(d) != 1 || len(d[0].Items) != 2 {
			t.Fatalf("delivered %+v", d)
		}
		_ = r.system.Root.StopFuture(second.pid).Wait()
		synctest.Wait()
		r.settled(&mail.Get{Request: mail.Request{ReplyTo: r.channel.pid}, Channel: r.channel.pid, NoAck: true})
		if g := got[*mail.GetReply](r.channel); len(g) != 1 || text(g[0].Delivery) != "1*" || g[0].MessageCount != 1 {
			t.Fatalf("%+v", g)
		}
	})
}

// TestStop: when the broker stops, every request is answered.
func TestStop(t *testing.T) {
	bubble(t, settings(), func(r *rig) {
		r.config.Queue.Durable = true
		r.options.Delay = time.Hour
	}, func(r *rig) {
		m := numbered(1, -1)
		setPersistent(&m, true)
		r.settled(batch(r.channel, m))
		_ = r.system.Root.StopFuture(r.vhost.pid).Wait()
		synctest.Wait()
		if acks, nacks := answers(r.channel); len(acks) != 0 || nacks[1] != 1 {
			t.Fatalf("acks %v, nacks %v", acks, nacks)
		}
	})
}

// TestBudget: a queue counts the memory that it holds until it ends, and a small one pages out only when far too much is used.
func TestBudget(t *testing.T) {
	for _, ends := range []string{"deleted", "stopped"} {
		bubble(t, settings(), func(r *rig) { r.config.Budget = new(budget.Budget) }, func(r *rig) {
			b := r.config.Budget
			m := numbered(1, -1)
			m.Body, m.Owned = make([]byte, 100<<10), false
			r.settled(batch(r.channel, m))
			used := b.Used()
			if used < 100<<10 {
				t.Errorf("%d bytes used", used)
			}
			b.SetLimit(used - 1)
			if r.settled(&mail.Trim{}); b.Used() != used {
				t.Errorf("%d bytes used, a small queue was trimmed", b.Used())
			}
			b.SetLimit(used / 2)
			r.settled(&mail.Trim{}) // writes contents to the journal
			if r.settled(&mail.Trim{}); b.Used() >= used {
				t.Errorf("%d bytes used, none left memory", b.Used())
			}
			r.settled(batch(r.channel, m))
			if ends == "deleted" {
				r.settled(&mail.DeleteQueue{}, &mail.QueueForgotten{})
			} else {
				_ = r.system.Root.StopFuture(r.queue).Wait()
			}
			if b.Used() != 0 {
				t.Errorf("%s: %d bytes stay", ends, b.Used())
			}
		})
	}
}

// live returns the deadlines of the queue's persistent messages, by number.
func (r *rig) live() map[uint64]int64 {
	live := map[uint64]int64{}
	r.look(func(s *state) {
		s.messages.Backlog.Sweep(1, 1<<30, func(h uint32) {
			if e := s.messages.Backlog.Entry(h); e.Stored {
				live[e.Seq] = e.Deadline
			}
		})
	})
	return live
}

// look is a mail handled by the Fault hook, since only the queue's own turn may access its state.
type look struct {
	at   func(s *state)
	done chan struct{}
}

// look shows a test the state of the queue.
func (r *rig) look(at func(s *state)) {
	l := look{at, make(chan struct{})}
	r.send(l)
	<-l.done
}

// Many queues are idle, so their size matters. 1784 bytes fit Go's size class of 1,792 bytes with 8 bytes of the runtime; the
// next class is 2,048.
func TestIdleQueueIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(queue{}); size > 1784 {
		t.Errorf("a queue is %d bytes", size)
	}
}
