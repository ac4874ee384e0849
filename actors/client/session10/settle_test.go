package session10

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/settlement"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/protocol/amqp10"
)

// holding returns a session with unsettled deliveries, one per byte: 'e' on a link of Azure Service Bus's dialect, 'q' on one of
// RabbitMQ's, each from a queue of that name.
func holding(dialects string) *state {
	s := idle()
	links := map[byte]*link{}
	for _, d := range []byte(dialects) {
		if links[d] == nil {
			queue := &unacked.Queue{}
			queue.Address = address.Named(string(d))
			links[d] = &link{consumer: &consumer{queue: queue}, dialect: dialectOf(map[byte]string{'e': "e", 'q': "/queues/q"}[d], s)}
		}
		s.output.owners.Append(links[d])
		s.queues.Unacked.Tag(links[d].consumer.queue, s.queues.Unacked.Last()+1, false)
	}
	return s
}

// dialectOf returns the dialect of a link of a session whose source has an address.
func dialectOf(address string, s *state) dialects.Dialect {
	d, err := dialects.Of(&amqp10.Attach{Role: amqp10.RoleReceiver, Source: &amqp10.Source{Address: amqp10.Some(address)}}, &s.access, &s.limits)
	if err != nil {
		panic(err)
	}
	return d
}

// sent returns the settlements sent to queues, and the deliveries in the dispositions sent to the client.
func (s *state) sent() (queues, client []string) {
	s.queues.Unacked.Flush()
	for _, p := range s.Out {
		for _, r := range p.Mail.(*mail.Settle).Ranges {
			if m := p.Mail.(*mail.Settle); m.Durable != (m.Asked != nil) { // DUR-3
				queues = append(queues, "an answer of unknown value")
			}
			queues = append(queues, fmt.Sprint(p.To.GetId(), r.First, "-", r.Last))
		}
	}
	for _, r := range s.output.replies {
		d := r.(*amqp10.Disposition)
		client = append(client, fmt.Sprintf("%d-%d", d.First, d.Last.Or(d.First)))
	}
	s.Out, s.output.replies = nil, nil
	slices.Sort(queues)
	return queues, client
}

// One disposition settles deliveries of links of both dialects.
func TestDisposition_BothDialects(t *testing.T) {
	for _, settled := range []bool{false, true} {
		s := holding("qeqqeq")
		s.settling.disposition(&amqp10.Disposition{
			Role: amqp10.RoleReceiver, First: 0, Last: amqp10.Some(uint32(4)), Settled: settled, State: amqp10.State{Kind: amqp10.Accepted},
		})
		queues, client := s.sent()
		if want := []string{"e2-2", "e5-5", "q1-1", "q3-4"}; !slices.Equal(queues, want) {
			t.Errorf("settled %v: queues received %q, want %q", settled, queues, want)
		}
		var want []string
		if !settled {
			want = []string{"0-0", "2-3"}
		}
		if !slices.Equal(client, want) {
			t.Errorf("settled %v: the client received dispositions of %q, want %q", settled, client, want)
		}
		if s.queues.Unacked.Len() != 1 || s.output.owners.Len() != 1 {
			t.Errorf("%d are left, %d owners", s.queues.Unacked.Len(), s.output.owners.Len())
		}
	}
}

// The client receives one disposition for each delivery, which says whether the queue still held it, even when the links of a
// queue take turns.
func TestSettled_Lost(t *testing.T) {
	for _, c := range []struct {
		numbers []uint64 // the queue's numbers, by delivery
		lost    []mail.Range
		want    string // one character per delivery: L is lost
	}{
		{[]uint64{1, 2, 3}, nil, "..."},
		{[]uint64{1, 2, 3}, []mail.Range{{First: 1, Last: 3}}, "LLL"},
		{[]uint64{1, 2, 3, 4, 7, 9}, []mail.Range{{First: 2, Last: 3}, {First: 9, Last: 9}}, ".LL..L"},
		{[]uint64{1, 2, 3, 4}, []mail.Range{{First: 1, Last: 1}, {First: 2, Last: 2}, {First: 4, Last: 4}}, "LL.L"},
		{[]uint64{5, 6, 1, 2, 9}, []mail.Range{{First: 6, Last: 6}, {First: 1, Last: 2}}, ".LLL."},
	} {
		x := &settlement.Asked[*link]{State: amqp10.State{Kind: amqp10.Accepted}, Numbers: c.numbers}
		for id := range c.numbers {
			x.IDs = append(x.IDs, uint32(id))
		}
		s := idle()
		s.settling.settles[3] = x
		s.settling.entitySettled(&mail.SettleReply{Reply: mail.Reply{ID: 3}, Lost: c.lost})
		got := ""
		for _, r := range s.output.replies {
			d := r.(*amqp10.Disposition)
			if d.First != uint32(len(got)) {
				t.Errorf("%v: disposition of delivery %d after %d others", c.numbers, d.First, len(got))
			}
			state := "."
			if d.State.Kind == amqp10.Rejected {
				state = "L"
			}
			got += strings.Repeat(state, int(d.Last.Or(d.First)-d.First)+1)
		}
		if got != c.want {
			t.Errorf("%v of %v: %s, want %s", c.lost, c.numbers, got, c.want)
		}
	}
}

// Deliveries that a queue refuses to dead-letter are rejected with the reason, and unacked as before; if their link
// ended before the refusal, the queue is informed.
func TestRefused_SBE14(t *testing.T) {
	for _, attached := range []bool{true, false} {
		s := holding("ee")
		l, _ := s.output.owners.Get(1)
		clear(s.links)
		s.settling.disposition(&amqp10.Disposition{Role: amqp10.RoleReceiver, First: 0, Last: amqp10.Some(uint32(1)), State: amqp10.State{Kind: amqp10.Rejected}})
		if attached {
			s.links[l.handle] = l
		}
		s.Out = nil
		s.settling.entitySettled(&mail.SettleReply{Reply: mail.Reply{ID: 1, Err: &mail.NotDeadLettered{Queue: "e", Again: true}}})
		d, _ := s.output.replies[0].(*amqp10.Disposition)
		if len(s.output.replies) != 1 || d.State.Error.Condition != amqp10.NotAllowed || !d.Settled || d.Last.Or(0) != 1 {
			t.Errorf("%+v", s.output.replies)
		}
		queues, _ := s.sent()
		if kept := s.queues.Unacked.Len() == 2 && s.output.owners.Len() == 2 && len(queues) == 0; kept != attached {
			t.Errorf("attached %v: %d unacked, %d owners, queues received %q", attached, s.queues.Unacked.Len(), s.output.owners.Len(), queues)
		}
	}
}

// Deliveries settled by their locks do not count as late, in any number; a client that settles one on its link as well
// receives the answer that it is lost.
func TestSettledElsewhere_Bound(t *testing.T) {
	s := holding("eqe")
	queue := s.queues.Peers.Of(address.Named("e"))
	l, _ := s.output.owners.Get(1)
	l.consumer.queue = &queue.Queue
	for range unacked.LateLimit + 10 {
		s.output.owners.Append(l)
		number := s.queues.Unacked.Tag(&queue.Queue, s.queues.Unacked.Last()+1, false)
		m := &mail.DeliveriesRequeued{Queue: queue.Queue.Address, Asked: true, Settled: true}
		m.Add(number)
		s.settling.returned(m)
	}
	if s.in.Phase != input.Open || s.queues.Unacked.Late() != 0 || s.queues.Unacked.Len() != 3 || s.output.owners.Len() != 3 {
		t.Fatalf("%d are late, %d are left, %d owners", s.queues.Unacked.Late(), s.queues.Unacked.Len(), s.output.owners.Len())
	}
	for _, want := range []amqp10.StateKind{amqp10.Rejected, amqp10.Accepted} {
		s.settling.disposition(&amqp10.Disposition{Role: amqp10.RoleReceiver, First: 7, State: amqp10.State{Kind: amqp10.Accepted}})
		if d := s.output.replies[0].(*amqp10.Disposition); len(s.output.replies) != 1 || d.First != 7 || d.State.Kind != want {
			t.Errorf("%+v", d)
		}
		s.output.replies = nil
	}
}

// A message refused by one of its queues is rejected for the reason given by that queue, even if another queue answers last.
func TestConfirmed_FirstReason(t *testing.T) {
	refusal := &mail.EnqueueReply{Refused: true, Why: mail.ErrSessionNeeded, Ranges: []mail.Range{{First: 1, Last: 1}}}
	acceptance := &mail.EnqueueReply{Ranges: []mail.Range{{First: 1, Last: 1}}}
	for name, answers := range map[string][]*mail.EnqueueReply{"first": {refusal, acceptance}, "last": {acceptance, refusal}} {
		s := idle()
		s.publishing.publishes.Append(publish{Link: &link{}, Queues: 2})
		for _, m := range answers {
			s.publishing.confirmed(m)
		}
		if len(s.output.outcomes) != 1 || s.output.outcomes[0].state.Kind != amqp10.Rejected || s.output.outcomes[0].state.Error == nil {
			t.Errorf("refused %s: %+v", name, s.output.outcomes)
		}
	}
}
