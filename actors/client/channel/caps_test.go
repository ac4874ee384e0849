package channel

import (
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/protocol"
)

// ttls takes the TTLs of the messages sent to each queue, in order.
func (r *rig) ttls() map[string]string {
	r.t.Helper()
	found := map[string]string{}
	for _, p := range r.posts {
		if e, ok := p.Mail.(*mail.Enqueue); ok {
			for i := range e.Messages {
				found[p.To.GetId()] += fmt.Sprintf("%s:%d ", e.Messages[i].Body, e.Messages[i].TTL)
			}
			e.Release()
		}
	}
	r.posts = nil
	return found
}

// TestTTL9_CappedExchange: the lowest of the message's own TTL and the caps on its route applies, on cached and uncached routes
// and in transactions.
func TestTTL9_CappedExchange(t *testing.T) {
	r := newRig(t)
	v := r.cfg.VHost
	inner, outer := newExchange("inner"), newExchange("outer")
	q := func(name string) topology.Target { return topology.Target{Queue: v.Directory().Queue([]byte(name))} }
	routes, _ := inner.Routes().With(topology.Binding{Destination: "q2"}, q("q2"))
	inner.Publish(routes.WithMaxTTL(50))
	routes, _ = outer.Routes().With(topology.Binding{Destination: "q1"}, q("q1"))
	routes, _ = routes.With(topology.Binding{Destination: "inner", ToExchange: true}, topology.Target{Exchange: inner})
	outer.Publish(routes)
	v.Publish(v.Directory().WithExchange(inner).WithExchange(outer))

	check := func(want map[string]string) {
		t.Helper()
		if got := r.ttls(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	all := [][]byte{publish("outer", "k", "a"), publish("outer", "k", "b", expiration("40")), publish("outer", "k", "c", expiration("60"))}
	r.feed(all...)
	check(map[string]string{"q1": "a:-1 b:40 c:60 ", "q2": "a:50 b:40 c:50 "})
	r.feed(publish("outer", "k", "cc", withHeaders("CC", protocol.Array{"other"})))
	check(map[string]string{"q1": "cc:-1 ", "q2": "cc:50 "})

	outer.Publish(outer.Routes().WithMaxTTL(10))
	inner.Publish(inner.Routes().WithMaxTTL(message.NoTTL))
	v.Bump()
	r.feed(all...)
	check(map[string]string{"q1": "a:10 b:10 c:10 ", "q2": "a:10 b:10 c:10 "})

	r.command(&protocol.TxSelect{})
	r.feed(all[2])
	outer.Publish(outer.Routes().WithMaxTTL(message.NoTTL))
	v.Bump()
	r.feed(all[2])
	r.command(&protocol.TxCommit{})
	check(map[string]string{"q1": "c:10 c:60 ", "q2": "c:10 c:60 "})
}

// TestTTL6_MomentOfExpiry: a header from which a target queue takes the moment of expiry must hold a valid time.
func TestTTL6_MomentOfExpiry(t *testing.T) {
	r := newRig(t)
	v := r.cfg.VHost
	q := *v.Directory().Queue([]byte("q1"))
	q.Schedules = &timeheaders.Schedules{}
	q.Schedules.Set(timeheaders.Config{ExpiresAt: "expires"})
	v.Publish(v.Directory().WithQueue(&q))
	r.feed(publish("", "q1", "a", withHeaders("expires", nil)), publish("", "q1", "b", withHeaders("expires", int64(1_900_000_000_000))),
		publish("", "q2", "c", withHeaders("expires", "soon")))
	r.sent("q1: enqueue a b", "q2: enqueue c")
	r.feed(publish("", "q1", "d", withHeaders("expires", "soon")))
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - invalid header 'expires': 'soon' is not a time: expected a timestamp, " +
		"RFC 3339 text or milliseconds since 1970 Class:60 Method:40}")
}
