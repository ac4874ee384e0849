package vhost

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// noStore is a store that is never called, since only the shell calls it.
type noStore struct{ definitions.Store }

// The core runs without actors. A queue is stored before it starts, starts before it is published, and is published before its
// creator gets the answer. Only the shell publishes it.
func TestCoreDecidesInOrder(t *testing.T) {
	vhost := topology.NewVHost("/")
	s := newState(Config{
		VHost: vhost, Meta: noStore{},
		NewQueue:    func(QueueSpec) *actor.Props { return nil },
		NewExchange: func(ExchangeSpec) *actor.Props { return nil },
	})
	change := &stored{} // the answer to the last store operation
	asker, owner := mail.Request{ReplyTo: address.Named("channel")}, address.Named("connection")
	s.handle(begin{address.Named("vhost"), func(parent mail.Address, name string) mail.Address { return address.Named(parent.GetId() + "/" + name) }})
	s.out.take()
	for _, step := range []struct {
		mail any
		want string
	}{
		{&mail.DeclareQueue{Request: asker, Name: "own", VHost: "/", Exclusive: true, Connection: owner}, "spawning watching func() *mail.DeclareQueue>queue/own/7"},
		{&mail.DeclareExchange{Request: asker, Name: "x", Type: "direct"}, "spawning func() *mail.TopologyReply>channel"},
		{&mail.PeerGone{Who: owner}, "*mail.DeleteQueue>queue/own/7"},
		{&mail.DeclareQueue{Request: asker, Name: "kept", VHost: "/", Durable: true}, "storing"},
		{&mail.DeleteQueue{Request: asker, Name: "kept", VHost: "/"}, ""}, // it waits
		{change, "spawning func() *mail.DeclareQueue>queue/kept/9 *mail.DeleteQueue>queue/kept/9"},
	} {
		s.handle(step.mail)
		var got []string
		for _, e := range s.out.take() {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", e), "vhost.")
			switch e := e.(type) {
			case mail.Post:
				kind = fmt.Sprintf("%T>%s", e.Mail, strings.TrimPrefix(e.To.GetId(), "vhost/"))
			case storing:
				change.then = e.then
			case func():
				if before := vhost.Directory(); before == s.directory {
					t.Error("published before the turn was over")
				}
				e()
			}
			got = append(got, kind)
		}
		if got := strings.Join(got, " "); got != step.want || s.failure != nil {
			t.Errorf("%T: %s %v, want %s", step.mail, got, s.failure, step.want)
		}
	}
}

// TestDeadLetterQueuesCount_PRO21: a dead-letter queue made by the broker counts for the user of its queue.
func TestDeadLetterQueuesCount_PRO21(t *testing.T) {
	objects := budget.NewObjects()
	objects.SetLimit(1)
	s := newState(Config{
		VHost: topology.NewVHost("/"), Objects: objects,
		NewQueue:    func(QueueSpec) *actor.Props { return nil },
		NewExchange: func(ExchangeSpec) *actor.Props { return nil },
	})
	s.handle(begin{address.Named("vhost"), func(parent mail.Address, name string) mail.Address { return address.Named(parent.GetId() + "/" + name) }})
	before, large := objects.Used(), strings.Repeat("x", 100_000)
	asker := mail.Request{ReplyTo: address.Named("channel"), By: &events.Origin{User: "guest"}}
	s.handle(&mail.DeclareQueue{Request: asker, Name: "q", VHost: "/", Permission: mail.PermissionUnless(nil), Arguments: protocol.Table{{Key: "x-dead-letter-queue", Value: true}, {Key: "k", Value: large}}})
	all := objects.Used() - before
	if s.queues.byName["q.dlq"] == nil || all < 100_000+2*budget.PriceQueue {
		t.Fatalf("%d bytes", all)
	}
	guest, left := objects.Definitions("guest", "/"), (28<<20-before)/4*3-all
	if guest.Room(left-100) != nil || guest.Room(left+100) == nil {
		t.Error("it counts for another user: ", guest.Room(left-100), guest.Room(left+100))
	}
}

// PRO-21: a binding that is not durable counts from the check until its exchange has answered, which counts it then.
func TestBindingsUnderWay_PRO21(t *testing.T) {
	objects := budget.NewObjects()
	objects.SetLimit(16 << 20)
	s := newState(Config{
		VHost: topology.NewVHost("/"), Meta: noStore{}, Objects: objects,
		NewQueue:    func(QueueSpec) *actor.Props { return nil },
		NewExchange: func(ExchangeSpec) *actor.Props { return nil },
	})
	asker := mail.Request{ReplyTo: address.Named("channel"), By: &events.Origin{User: "guest"}}
	s.handle(begin{address.Named("vhost"), func(parent mail.Address, name string) mail.Address { return address.Named(parent.GetId() + "/" + name) }})
	s.handle(&mail.DeclareQueue{Request: asker, Name: "q", VHost: "/", Connection: address.Named("connection")})
	s.out.take()
	before := objects.Used()
	large := protocol.Table{{Key: "k", Value: strings.Repeat("x", 100_000)}}
	for n := range 400 {
		s.handle(&mail.Bind{Request: asker, Source: "amq.headers", Binding: topology.Binding{Destination: "q", RoutingKey: fmt.Sprint(n), Arguments: large}})
	}
	var sent []*mail.AddBinding
	refused := 0
	for _, e := range s.out.take() {
		switch m := e.(mail.Post).Mail.(type) {
		case *mail.AddBinding:
			sent = append(sent, m)
		case *mail.TopologyReply:
			if m.Err == nil || !strings.Contains(m.Err.Error(), "PRECONDITION_FAILED - cannot bind to exchange 'amq.headers' in vhost '/': the objects of") {
				t.Error(m.Err)
			}
			refused++
		}
	}
	if n := len(sent); n < 150 || n > 230 || n+refused != 400 {
		t.Errorf("%d are under way, %d are refused", n, refused)
	}
	for n, m := range sent {
		var err error
		if n%2 == 0 {
			err = errors.New("refused")
		}
		s.handle(&mail.TopologyReply{Reply: m.Done(err)})
		reply := s.out.take()[0].(mail.Post)
		if got := reply.Mail.(*mail.TopologyReply); !mail.Same(reply.To, asker.ReplyTo) || !errors.Is(got.Err, err) {
			t.Errorf("the answer is %v", got.Err)
		}
	}
	if after := objects.Used(); after != before {
		t.Errorf("%d bytes, before %d", after, before)
	}
}
