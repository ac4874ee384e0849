package channel

import (
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/client/requests"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/actors/system/mailbox"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// fixture is one channel actor in a bubble. Its parent (the connection), the queues and the vhost are probes.
type fixture struct {
	*rig // for its vhost, gate and outbox, and to build reads
	root *actor.RootContext
	pid  *actor.PID
	seen map[string]chan any // mail received, by receiver

	mu   sync.Mutex
	wire []string // frames that the client received
	stop bool     // the writer is paused
}

func withFixture(t *testing.T, limit int, test func(h *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		system := actor.NewActorSystemWithConfig(actor.Configure(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })))
		h := &fixture{root: system.Root, seen: map[string]chan any{}}
		var out *outbox.Outbox
		out = outbox.New(limit, func() { go h.write(out) })
		h.rig = newRig(t, func(c *Config) { c.Outbox = out })
		system.EventStream.Subscribe(func(event any) {
			if late, ok := event.(*actor.DeadLetterEvent); ok {
				h.undeliverable(late.Message)
			}
		})
		v := h.cfg.VHost
		v.PID = h.probe("vhost", nil)
		for q := range v.Directory().Queues() {
			q.PID = h.probe(q.Name, nil) // before anything is routed
		}
		dispatcher := mailbox.NewDispatcher(2)
		box := mailbox.New(h.undeliverable)
		cfg := h.cfg
		cfg.Permissions = panics{h.perms, "boom"}
		cfg.Post, cfg.Close = func(to mail.Address, received any) { actorlib.Send(h.root, to, received) }, box.Close
		spawned := make(chan struct{})
		parent := h.probe("connection", func(ctx actor.Context) {
			cfg.Connection = ctx.Self()
			h.pid = ctx.Spawn(actor.PropsFromProducer(func() actor.Actor { return New(cfg) },
				actor.WithMailbox(func() actor.Mailbox { return box }), actor.WithDispatcher(dispatcher)))
			close(spawned)
		})
		<-spawned
		defer func() {
			h.stopWriting(false)
			for _, name := range []string{"vhost", "q1", "q2", "q3"} {
				_ = h.root.StopFuture(h.queue(name)).Wait()
			}
			_ = h.root.StopFuture(parent).Wait()
			synctest.Wait()
			dispatcher.Stop()
			system.Shutdown()
			time.Sleep(10 * time.Second) // a throttle of the actor library ends by itself within this time
			h.balanced()
		}()
		test(h)
	})
}

// undeliverable handles mail whose receiver has ended, like supervision.
func (h *fixture) undeliverable(received any) {
	switch m := received.(type) {
	case *mail.Inbound:
		m.Chunk.Release()
	case *mail.Deliver:
		m.Release()
	default:
		actorlib.AnswerAll(h.root, []any{received}, mail.Gone)
	}
}

// probe spawns an actor that records its mail and stops a child that fails, like supervision.
func (h *fixture) probe(name string, started func(actor.Context)) *actor.PID {
	seen := make(chan any, 100)
	h.seen[name] = seen
	stop := actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })
	pid, err := h.root.SpawnNamed(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *actor.Started:
			if started != nil {
				started(ctx)
			}
		case *actor.Stopping, *actor.Stopped:
		case *actor.Terminated: // it overtakes mail
			ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
		case *mail.Consume:
			actorlib.Watch(ctx, m.Channel)
			seen <- m
		default:
			seen <- m
		}
	}, actor.WithSupervisor(stop)), name)
	if err != nil {
		h.t.Fatal(err)
	}
	return pid
}

// write is a writer that can be paused.
func (h *fixture) write(out *outbox.Outbox) {
	for {
		h.mu.Lock()
		stop := h.stop
		h.mu.Unlock()
		if stop {
			time.Sleep(time.Second)
			continue
		}
		b := out.Take()
		if b == nil {
			return
		}
		for len(b) > 0 {
			f, n, _, err := protocol.ParseFrame(b, 0)
			if err != nil || n == 0 {
				h.t.Error(err)
				return
			}
			b = b[n:]
			h.mu.Lock()
			h.wire = append(h.wire, show(h.t, f))
			h.mu.Unlock()
		}
	}
}

func (h *fixture) stopWriting(stop bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop = stop
}

// hears checks the frames that the client received.
func (h *fixture) hears(want ...string) {
	h.t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.wire, want) {
		h.t.Errorf("the client heard:\n got %q\nwant %q", h.wire, want)
	}
	h.wire = nil
}

// gets returns the next mail of a probe.
func gets[T any](h *fixture, name string) T {
	h.t.Helper()
	synctest.Wait()
	select {
	case m := <-h.seen[name]:
		if is, ok := m.(T); ok {
			return is
		}
		h.t.Fatalf("%s got %T", name, m)
	default:
		h.t.Fatalf("%s got nothing", name)
	}
	panic("unreachable")
}

func (h *fixture) nothing(name string) {
	h.t.Helper()
	synctest.Wait()
	if n := len(h.seen[name]); n > 0 {
		h.t.Errorf("%s got %T", name, <-h.seen[name])
	}
}

func (h *fixture) says(methods ...protocol.Method) {
	for _, m := range methods {
		h.root.Send(h.pid, h.inbound(frame(m)))
	}
}

func (h *fixture) consumes(tag string) {
	h.t.Helper()
	h.says(&protocol.BasicConsume{Queue: "q1", ConsumerTag: tag})
	m := gets[*mail.Consume](h, "q1")
	h.root.Send(h.pid, &mail.ConsumeReply{Reply: m.Done(nil), Queue: h.queue("q1"), Tag: tag})
	h.hears("basic.consume-ok {ConsumerTag:" + tag + "}")
}

func (h *fixture) queue(name string) *actor.PID { return h.root.ActorSystem().NewLocalPID(name) }

func (h *fixture) delivers(tag string, first uint64, bodies ...string) {
	d := mail.NewDeliver(h.queue("q1"), tag, false)
	for i, body := range bodies {
		d.Items = append(d.Items, mail.Delivery{Number: first + uint64(i), Message: message.Message{
			Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: []byte(body), Owned: true,
		}})
	}
	h.root.Send(h.pid, d)
}

func TestShell_FromDeclareToClose(t *testing.T) {
	withFixture(t, 1<<20, func(h *fixture) {
		h.says(&protocol.QueueDeclare{Queue: "q"}, &protocol.ChannelClose{}, &protocol.BasicQos{})
		m := gets[*mail.DeclareQueue](h, "vhost")
		if m.Connection.GetId() != "connection" || !mail.Same(m.ReplyTo, h.pid) {
			t.Errorf("%+v", m)
		}
		h.root.Send(h.pid, &mail.DeclareQueueReply{Reply: m.Done(nil), Name: "q"})
		closed := gets[*mail.ChannelClosed](h, "connection")
		if !closed.SendCloseOk || closed.ID != 1 || !mail.Same(closed.Channel, h.pid) {
			t.Errorf("%+v", closed)
		}
		gets[*mail.PeerGone](h, "connection")
		h.hears("queue.declare-ok {Queue:q}")
		h.says(&protocol.BasicQos{}) // ignored
		h.delivers("a", 1, "m")
		h.hears()
	})
}

func TestShell_ThirtySecondsWithoutAnAnswer(t *testing.T) {
	withFixture(t, 1<<20, func(h *fixture) {
		h.says(&protocol.QueuePurge{Queue: "q1"}, &protocol.QueuePurge{Queue: "q1"})
		m := gets[*mail.Purge](h, "q1")
		time.Sleep(requests.AnswerTimeout - time.Millisecond)
		h.nothing("connection")
		h.root.Send(h.pid, &mail.PurgeReply{Reply: m.Done(nil)})
		gets[*mail.Purge](h, "q1")
		time.Sleep(requests.AnswerTimeout - time.Millisecond)
		h.nothing("connection")
		time.Sleep(time.Millisecond)
		err := gets[*mail.CloseConnection](h, "connection").Err.(*protocol.ConnectionError)
		if err.Code != 541 || err.Text != "INTERNAL_ERROR - no answer to queue.purge within 30s" || err.Class != 50 || err.Method != 30 {
			t.Error(err)
		}
		h.root.Send(h.pid, &mail.CloseChannel{})
		gets[*mail.ChannelClosed](h, "connection")
		gets[*mail.PeerGone](h, "connection")
		h.hears("queue.purge-ok")
	})
}

// TestShell_StalledClient: output that waits for a client to read has no deadline, even if the client stalls for a day.
func TestShell_StalledClient(t *testing.T) {
	withFixture(t, 100, func(h *fixture) {
		h.consumes("a")
		h.stopWriting(true)
		h.delivers("a", 1, "m1", "m2", "m3")
		h.delivers("a", 4, "m4")
		h.says(&protocol.BasicCancel{ConsumerTag: "a"}, &protocol.BasicQos{})
		m := gets[*mail.CancelConsumer](h, "q1")
		h.root.Send(h.pid, &mail.CancelConsumerReply{Reply: m.Done(nil), Tag: "a"})
		time.Sleep(24 * time.Hour)
		h.nothing("connection")
		h.hears()
		h.stopWriting(false)
		time.Sleep(time.Second)
		h.hears(concat(deliver("a", 1, "m1"), deliver("a", 2, "m2"), deliver("a", 3, "m3"), deliver("a", 4, "m4"),
			"basic.cancel-ok {ConsumerTag:a}", "basic.qos-ok")...)
		h.root.Send(h.pid, &mail.CloseChannel{})
		gets[*mail.ChannelGone](h, "q1")
		gets[*mail.PeerGone](h, "q1")
		gets[*mail.ChannelClosed](h, "connection")
	})
}

// The notification of a queue's end overtakes its last deliveries; the client sees the usual order.
func TestShell_QueueEnds(t *testing.T) {
	withFixture(t, 1<<20, func(h *fixture) {
		h.consumes("a")
		h.says(&protocol.ConfirmSelect{NoWait: true})
		h.root.Send(h.pid, h.inbound(publish("", "q1", "p")))
		batch := gets[*mail.Enqueue](h, "q1")
		h.delivers("a", 1, "m1")
		_, reply := batch.Answer(mail.Gone)
		h.root.Send(h.pid, reply)
		_ = h.root.StopFuture(h.queue("q1")).Wait()
		h.hears(concat(deliver("a", 1, "m1"), "basic.ack {DeliveryTag:1}", "basic.cancel {ConsumerTag:a NoWait:true}")...)
		// The queue is still in the directory: mail to it is answered on its behalf.
		h.root.Send(h.pid, h.inbound(publish("", "q1", "late"), publish("", "q1", "later")))
		h.hears("basic.ack {DeliveryTag:3 Multiple:true}")
		h.says(&protocol.BasicAck{DeliveryTag: 1})
		h.nothing("connection")
		h.root.Send(h.pid, &mail.CloseChannel{})
		gets[*mail.ChannelClosed](h, "connection")
	})
}

// panics is a permission check that panics for a resource with this name.
type panics struct {
	auth.Permissions
	name string
}

func (p panics) Check(_ auth.User, _ string, r auth.Resource, _ auth.Permission) error {
	if r.Name == p.name {
		panic("permissions are unreadable")
	}
	return nil
}

// After a panic, the connection and the queues that watch the channel receive PeerGone and nothing else; all credit is released,
// and the outbox still works.
func TestShell_Panic(t *testing.T) {
	withFixture(t, 1<<20, func(h *fixture) {
		h.consumes("a")
		h.root.Send(h.pid, h.inbound(slices.Concat(publish("", "q2", "a"), publish("boom", "", "b"), publish("", "q2", "c"))))
		h.says(&protocol.BasicQos{})
		if is := gets[*mail.PeerGone](h, "connection"); !mail.Same(is.Who, h.pid) {
			t.Errorf("%v ended", is.Who)
		}
		gets[*mail.PeerGone](h, "q1")
		h.nothing("connection")
		h.nothing("q2") // the batch was never sent
		h.says(&protocol.BasicQos{})
		h.hears()
		h.cfg.Outbox.End(protocol.AppendMethodFrame(h.cfg.Outbox.Begin(), 0, &protocol.ConnectionClose{ReplyCode: 541}))
		h.hears("connection.close {ReplyCode:541}")
	})
}
