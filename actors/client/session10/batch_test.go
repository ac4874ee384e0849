package session10

import (
	"errors"
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol/amqp10"

	"github.com/rs/zerolog"
)

// idle returns a session without links.
func idle(change ...func(*Config)) *state {
	cfg := Config{
		Outbox: outbox.New(1<<20, nil), Gate: message.NewGate(1 << 30), VHost: topology.NewVHost("/"), User: auth.User{Name: "guest"},
		Permissions: &users.Fixed{}, Clock: clock.New(), Log: zerolog.Nop(), Post: func(mail.Address, any) {}, Close: func() []any { return nil },
	}
	for _, f := range change {
		f(&cfg)
	}
	s := &state{}
	s.init(cfg)
	s.Me = address.Named("self")
	return s
}

// crowded returns a session with a link to a topic of a number of queues.
func crowded(queues int, change ...func(*Config)) (*state, *link) {
	v := topology.NewVHost("/")
	x := &topology.Exchange{Name: "crowd", Type: "fanout"}
	routes, _ := topology.NewRoutes("fanout", nil)
	for i := range queues {
		q := &topology.Queue{Name: fmt.Sprint(i), PID: address.Named(fmt.Sprint(i))}
		routes, _ = routes.With(topology.Binding{Destination: q.Name}, topology.Target{Queue: q})
	}
	x.Publish(routes)
	v.Publish(v.Directory().WithExchange(x))
	s := idle(append(change, func(cfg *Config) { cfg.VHost = v })...)
	s.queues.Routes.BeginTurn(s.cfg.Clock)
	l := &link{publisher: &publisher{}}
	l.publisher.ToEntity("crowd", "crowd", "", 1<<30)
	return s, l
}

// batchOf encodes a batch of messages with these bodies. They have message ids, so that they are published unchanged.
func batchOf(bodies ...string) (whole []byte) {
	for _, body := range bodies {
		m := append([]byte{0, 0x53, 0x73, 0xc0, 4, 1, 0xa1, 1, 'i'}, append(amqp10.AppendDataHead(nil, len(body)), body...)...)
		whole = append(amqp10.AppendDataHead(whole, len(m)), m...)
	}
	return whole
}

// enqueued calls f for each message sent to a queue, and releases it.
func (s *state) enqueued(f func(m *message.Message)) {
	s.queues.Flush()
	for _, p := range s.Out {
		if e, ok := p.Mail.(*mail.Enqueue); ok {
			for i := range e.Messages {
				f(&e.Messages[i])
			}
			e.Release()
		}
	}
	s.Out = nil
}

// A message of a batch does not keep the memory of the whole batch.
func TestBatch_Owned(t *testing.T) {
	for _, owned := range []bool{false, true} {
		s, l := crowded(2)
		whole := &transfer{link: l}
		whole.Message.Owned = owned
		payload := batchOf("one", "two")
		s.publishing.publishBatch(whole, payload)
		clear(payload)
		var got []string
		s.enqueued(func(m *message.Message) {
			if !m.Owned || cap(m.Body) != len(m.Body) || cap(m.Header) != len(m.Header) {
				t.Errorf("owned %v, %d bytes for %q, %d for %d of its header", m.Owned, cap(m.Body), m.Body, cap(m.Header), len(m.Header))
			}
			got = append(got, string(m.Body))
		})
		if fmt.Sprint(got) != "[one two one two]" {
			t.Errorf("owned %v: %q", owned, got)
		}
	}
}

// A batch whose messages need more than batchSteps deliveries to queues is refused as a whole, at limited cost for the turn; a
// smaller one is delivered to all queues.
func TestBatch_Bound(t *testing.T) {
	const queues = 500
	body := make([]string, batchSteps/queues+1)
	for _, c := range []struct {
		messages int
		accepted bool
	}{{len(body), false}, {batchSteps / queues / 4, true}} {
		s, l := crowded(queues)
		s.publishing.publishBatch(&transfer{link: l, settled: !c.accepted}, batchOf(body[:c.messages]...))
		got := 0
		s.enqueued(func(*message.Message) { got++ })
		want := 0
		if c.accepted {
			want = c.messages * queues
		}
		if got != want || s.queues.Routes.Steps() > 2*batchSteps+topology.TurnSteps {
			t.Errorf("%d messages to %d queues: %d are published, in %d steps", c.messages, queues, got, s.queues.Routes.Steps())
		}
	}
	s, l := crowded(queues)
	s.publishing.publishBatch(&transfer{link: l}, batchOf(body...))
	if n := len(s.output.outcomes); n != 1 || s.output.outcomes[0].state.Kind != amqp10.Rejected || s.output.outcomes[0].state.Error.Condition != amqp10.ResourceLimitExceeded {
		t.Errorf("%+v", s.output.outcomes)
	}
}

// A temporary queue is deleted when it refuses the consumer of its link.
func TestDynamicRefused_DEC18(t *testing.T) {
	s, _ := crowded(0)
	s.cfg.VHost.PID = address.Named("vhost")
	queue := &topology.Queue{Name: "amq.dyn-q", PID: address.Named("q")}
	s.cfg.VHost.Publish(s.cfg.VHost.Directory().WithQueue(queue))
	m := &amqp10.Attach{Role: amqp10.RoleReceiver, Source: &amqp10.Source{Dynamic: true, Address: amqp10.Some("/queues/amq.dyn-q")}}
	if err := s.attachConsumer(m, dialectOf("/queues/amq.dyn-q", s)); err != nil {
		t.Fatal(err)
	}
	s.answered(&mail.ConsumeReply{Reply: mail.Reply{ID: s.in.Next() - 1, Err: errors.New("refused")}})
	last, ok := s.Out[len(s.Out)-1].Mail.(*mail.DeleteQueue)
	if !ok || last.Name != "amq.dyn-q" || !s.links[0].closing {
		t.Errorf("%+v", s.Out)
	}
}
