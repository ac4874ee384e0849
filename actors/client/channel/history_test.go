package channel

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// keeping makes a recent-history exchange, bound to a queue if it exists.
func keeping(v *topology.VHost, name, queue string) {
	x := &topology.Exchange{Name: name, Type: topology.RecentHistoryType, PID: pid("exchange/" + name)}
	routes, _ := topology.NewRoutes(x.Type, nil)
	if q := v.Directory().Queue([]byte(queue)); q != nil {
		routes, _ = routes.With(topology.Binding{Destination: queue}, topology.Target{Queue: q})
	}
	x.Publish(routes.WithHistory(x))
	v.Publish(v.Directory().WithExchange(x))
}

// TestDEC17_UnroutableAllTheSame: a message that an exchange keeps but no queue receives is returned and confirmed; no answer of
// the exchange is needed.
func TestDEC17_UnroutableAllTheSame(t *testing.T) {
	r := newRig(t)
	keeping(r.cfg.VHost, "empty", "")
	keeping(r.cfg.VHost, "bound", "q1")
	r.command(&protocol.ConfirmSelect{NoWait: true})
	r.feed(
		publish("empty", "", "dropped"),
		content(&protocol.BasicPublish{Exchange: "empty", Mandatory: true}, "back"),
		publish("bound", "", "routed"), publish("bound", "", "again"),
	)
	r.sent("exchange/empty: enqueue dropped back", "exchange/bound: enqueue routed again", "q1: enqueue routed#3 again#4")
	r.received("basic.ack {DeliveryTag:1}", "basic.return {ReplyCode:312 ReplyText:NO_ROUTE Exchange:empty}", "header 4", "body back", "basic.ack {DeliveryTag:2}")
	for name, want := range map[string][2]uint64{"empty": {2, 0}, "bound": {2, 2}} {
		if in, out := r.cfg.VHost.Directory().Exchange([]byte(name)).Published(); [2]uint64{in, out} != want {
			t.Errorf("%s: %d in, %d out", name, in, out)
		}
	}
	r.balanced()
}

// TestDEC17_Transaction: the commit waits for queues only, and messages carry the number of the routing table used at the
// publish.
func TestDEC17_Transaction(t *testing.T) {
	r := newRig(t)
	keeping(r.cfg.VHost, "empty", "")
	r.command(&protocol.TxSelect{})
	r.feed(publish("empty", "", "m"))
	r.sent()
	x := r.cfg.VHost.Directory().Exchange([]byte("empty"))
	was := x.Routes().Number()
	x.Publish(x.Routes().WithHistory(x))
	r.command(&protocol.TxCommit{})
	if by := r.posts[0].Mail.(*mail.Enqueue).Table; by != was {
		t.Errorf("by table %d, not %d", by, was)
	}
	r.sent("exchange/empty: enqueue m")
	r.received("tx.select-ok", "tx.commit-ok")
	r.balanced()
}
