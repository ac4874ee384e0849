package session

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/protocol/amqp10"

	"github.com/asynkron/protoactor-go/actor"
)

// holding has a session with unsettled deliveries, one for each byte: 'e' on a link of Azure Service Bus's dialect, 'q' on one of RabbitMQ's, both of a
// queue of that name.
func holding(dialects string) *state {
	s := &state{settles: map[uint64]*settling{}}
	s.unacked = unacked.New(&s.outgoing)
	links := map[byte]*link{}
	for _, d := range []byte(dialects) {
		if links[d] == nil {
			queue := &unacked.Queue{}
			queue.Address = &actor.PID{Id: string(d)}
			links[d] = &link{consumer: &consumer{queue: queue, entity: d == 'e'}}
		}
		s.owners.Append(links[d])
		s.unacked.Tag(links[d].consumer.queue, s.unacked.Last()+1, false)
	}
	return s
}

// told are the settlements that queues are told, and the deliveries that the client is told are settled.
func (s *state) told() (queues, client []string) {
	s.unacked.Flush()
	for _, p := range s.out {
		for _, r := range p.what.(*mail.Settle).Ranges {
			queues = append(queues, fmt.Sprint(p.to.Id, r.First, "-", r.Last))
		}
	}
	for _, r := range s.replies {
		d := r.(*amqp10.Disposition)
		client = append(client, fmt.Sprintf("%d-%d", d.First, d.Last.Or(d.First)))
	}
	s.out, s.replies = nil, nil
	slices.Sort(queues)
	return queues, client
}

// One disposition settles deliveries of links of both dialects.
func TestDisposition_BothDialects(t *testing.T) {
	for _, settled := range []bool{false, true} {
		s := holding("qeqqeq")
		s.disposition(&amqp10.Disposition{
			Role: amqp10.RoleReceiver, First: 0, Last: amqp10.Some(uint32(4)), Settled: settled, State: amqp10.State{Kind: amqp10.Accepted},
		})
		queues, client := s.told()
		if want := []string{"e2-2", "e5-5", "q1-1", "q3-4"}; !slices.Equal(queues, want) {
			t.Errorf("settled %v: queues are told %q", settled, queues)
		}
		var want []string
		if !settled {
			want = []string{"0-0", "2-3"}
		}
		if !slices.Equal(client, want) {
			t.Errorf("settled %v: the client is told %q", settled, client)
		}
		if s.unacked.Len() != 1 || s.owners.Len() != 1 {
			t.Errorf("%d are left, %d owners", s.unacked.Len(), s.owners.Len())
		}
	}
}
