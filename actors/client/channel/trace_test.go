package channel

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// traced is a rig whose virtual host sends trace copies to the queue traces.
func traced(t *testing.T) *rig {
	r := newRig(t, func(c *Config) { c.ConnectionName, c.Node = "1.2.3.4:5 -> 6.7.8.9:10", "node@here" })
	x := &topology.Exchange{Name: topology.TraceExchange, Type: "topic", Internal: true, PID: pid("trace")}
	routes, _ := topology.NewRoutes("topic", nil)
	q := &topology.Queue{Name: "traces", PID: pid("traces")}
	routes, _ = routes.With(topology.Binding{Destination: "traces", RoutingKey: "#"}, topology.Target{Queue: q})
	x.Publish(routes)
	v := r.cfg.VHost
	v.Publish(v.Directory().WithExchange(x).WithQueue(q))
	v.SetTracing(true)
	return r
}

// copies takes the messages sent to the queue traces: keys, bodies and headers.
func (r *rig) copies() (keys []string, bodies []string, tables []protocol.Table) {
	r.t.Helper()
	rest := r.posts[:0:0]
	for _, p := range r.posts {
		e, isBatch := p.Mail.(*mail.Enqueue)
		if !isBatch || p.To.GetId() != "traces" {
			rest = append(rest, p)
			continue
		}
		for _, m := range e.Messages {
			p, err := protocol.DecodeProperties(m.Header)
			if err != nil || p.Flags != protocol.FlagHeaders || string(m.Exchange) != topology.TraceExchange || m.Number != 0 ||
				m.TTL != message.NoTTL || m.Persistent() {
				r.t.Errorf("%+v %v", m, err)
			}
			keys, bodies, tables = append(keys, string(m.RoutingKey)), append(bodies, string(m.Body)), append(tables, p.Headers)
		}
		e.Release()
	}
	r.posts = rest
	return keys, bodies, tables
}

func TestTrace_Publish(t *testing.T) {
	r := traced(t)
	r.command(&protocol.ConfirmSelect{NoWait: true})
	p := withHeaders("CC", protocol.Array{"one"}, "BCC", protocol.Array{"both"}, "n", int64(1))
	p.Flags |= protocol.FlagDeliveryMode | protocol.FlagContentType | protocol.FlagTimestamp | protocol.FlagCorrelationID
	p.DeliveryMode, p.ContentType, p.Timestamp, p.CorrelationID = 2, "text/plain", 1<<40, "c"
	r.feed(publish("x", "k", "body", p), publish("void", "", "lost"))
	keys, bodies, tables := r.copies()
	r.sent("q1: enqueue body#1", "q2: enqueue body#1")
	r.received("basic.ack {DeliveryTag:2}")
	if got := fmt.Sprint(keys, bodies); got != "[publish.x publish.void] [body lost]" {
		t.Error(got)
	}
	want := []string{
		"{exchange_name x}", "{routing_keys [k one both]}",
		"{properties [{timestamp 1099511627776} {correlation_id c} {delivery_mode 2} {headers [{CC [one]} {n 1}]} {content_type text/plain}]}",
		"{node node@here}", "{vhost /}", "{connection 1.2.3.4:5 -> 6.7.8.9:10}", "{channel 1}", "{user guest}", "{routed_queues [q1 q2]}",
	}
	if got := fmt.Sprint(tables[0]); got != "["+strings.Join(want, " ")+"]" {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if v, _ := tables[0].Get("channel"); v != int32(1) {
		t.Errorf("channel is a %T", v)
	}
	r.balanced()
}

// In a transaction the copy is sent at the publish, not at the commit.
func TestTrace_Transaction(t *testing.T) {
	r := traced(t)
	r.command(&protocol.TxSelect{})
	r.feed(publish("x", "one", "a"))
	if keys, _, _ := r.copies(); len(keys) != 1 {
		t.Error(keys)
	}
	r.command(&protocol.TxCommit{})
	if keys, _, _ := r.copies(); len(keys) != 0 {
		t.Error("again", keys)
	}
	r.sent("q1: enqueue a#1")
}

func TestTrace_Deliveries(t *testing.T) {
	r := traced(t)
	r.consumes("a", "q1")
	o := &message.Overlay{CC: []string{"l"}, BCC: []string{"m"}}
	m := r.inbound([]byte("read"))
	r.turn(&mail.Deliver{Queue: pid("q1"), Tag: "a", Chunk: m.Chunk, Items: []mail.Delivery{
		{Number: 1, Message: message.Message{Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: m.Runs[0], Overlay: o}},
		{Number: 2, Redelivered: true, Message: message.Message{RoutingKey: []byte("q1"), Header: []byte{0, 0}}},
		{Number: 3, Message: message.Message{Exchange: []byte(topology.TraceExchange), Header: []byte{0, 0}}}, // a trace copy itself
	}})
	r.overwrite()
	keys, bodies, tables := r.copies()
	if got := fmt.Sprint(keys, bodies); got != "[deliver.q1 deliver.q1] [read ]" {
		t.Error(got)
	}
	want := "[{exchange_name x} {routing_keys [k l m]} {properties []} {node node@here} {redelivered 0} " +
		"{vhost /} {connection 1.2.3.4:5 -> 6.7.8.9:10} {channel 1} {user guest}]"
	if got := fmt.Sprint(tables[0]); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if v, _ := tables[1].Get("redelivered"); v != int32(1) {
		t.Errorf("redelivered %v", v)
	}
	r.frames()
	r.command(&protocol.BasicGet{Queue: "q2"})
	r.turn(&mail.GetReply{Reply: requestOf(r.asked[0]).Done(nil), Queue: pid("q2"), Delivery: mail.Delivery{
		Number: 4, Message: message.Message{Header: []byte{0, 0}, Body: []byte("got")},
	}})
	if keys, _, _ := r.copies(); fmt.Sprint(keys) != "[deliver.q2]" {
		t.Error(keys)
	}
	r.cfg.VHost.SetTracing(false)
	r.delivers("q1", "a", 4, "m")
	r.feed(publish("x", "one", "m"))
	if keys, _, _ := r.copies(); len(keys) > 0 {
		t.Error("off, and still", keys)
	}
	r.posts = nil
}
