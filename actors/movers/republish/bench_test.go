package republish

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"

	"github.com/rs/zerolog"
)

// BenchmarkDeadLetter routes batches of 512 messages, dead-lettered for the first time, to one queue, and settles them;
// one operation is one message.
func BenchmarkDeadLetter(b *testing.B) {
	v := topology.NewVHost("/")
	q := &topology.Queue{Name: "dead", PID: address.Named("dead")}
	x := &topology.Exchange{Name: "dlx", Type: "fanout"}
	r, _ := topology.NewRoutes("fanout", nil)
	r, _ = r.With(topology.Binding{Destination: "dead"}, topology.Target{Queue: q})
	x.Publish(r)
	v.Publish(v.Directory().WithQueue(q).WithExchange(x))
	var s state
	s.init(Config{VHost: v, Stats: &Stats{}, Log: zerolog.Nop()}, 0)
	s.self = address.Named("self")
	from := address.Named("from")
	m := message.Message{Exchange: []byte("orders"), RoutingKey: []byte("orders.new"), Header: []byte{0, 0}, Owned: true, TTL: 1000}
	b.ReportAllocs()
	for done := 0; done < b.N; done += turnLimit {
		d := &mail.DeadLetter{From: from, Queue: "orders", Reason: "expired", Exchange: "dlx", Time: 1}
		for i := range turnLimit {
			m.Number = uint64(i + 1)
			d.Add(m, 0, nil)
		}
		s.take(d)
		e := s.out.Posts[0].Mail.(*mail.Enqueue)
		s.enqueued(&mail.EnqueueReply{Ranges: []mail.Range{{First: e.Messages[0].Number, Last: e.Messages[turnLimit-1].Number}}})
		e.Release()
		clear(s.out.Posts)
		s.out.Posts, s.out.watch = s.out.Posts[:0], s.out.watch[:0]
	}
	if s.copies.Len() != 0 {
		b.Fatal("not all was settled")
	}
}
