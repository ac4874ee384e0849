package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/protocol/amqp10"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	amqp1 "github.com/Azure/go-amqp"
	amqp "github.com/rabbitmq/amqp091-go"
)

// hour is the delay, in ms, of messages that must still be held after the restart.
const hour = int64(3_600_000)

// holding is a kind of place that holds messages.
type holding struct {
	name              string
	durable, all      bool // which messages it stores: none, persistent ones, or all
	exchange, delayed bool // it is a delayed exchange; its messages are held for an hour
	session           bool // it takes only messages of a session
	ending            bool // its lease ends before the broker does, and its target is full until the restart (LEASE-14)
	args              amqp.Table
}

// holdings are the kinds of places. An entity is created by a client of Azure Service Bus, a dead-letter queue by the broker.
var holdings = []*holding{
	{name: "classic", durable: true},
	{name: "transient"},
	{name: "quorum", durable: true, all: true, args: amqp.Table{"x-queue-type": "quorum"}},
	{name: "entity", durable: true, all: true},
	{name: "dead-letters", durable: true, all: true},
	{name: "scheduled", durable: true, delayed: true, args: amqp.Table{"x-delayed-messages": true}},
	{name: "quorum-scheduled", durable: true, all: true, delayed: true, args: amqp.Table{"x-queue-type": "quorum", "x-delayed-messages": true}},
	{name: "delayed", durable: true, all: true, exchange: true, delayed: true},
	{name: "transient-delayed", exchange: true, delayed: true},
	{name: "session", durable: true, all: true, session: true, args: amqp.Table{"x-queue-type": "quorum", "x-sessions": true}},
	{
		name: "session-scheduled", durable: true, all: true, delayed: true, session: true,
		args: amqp.Table{"x-queue-type": "quorum", "x-sessions": true, "x-delayed-messages": true},
	},
	{name: "ending", durable: true, ending: true},
	{name: "quorum-ending", durable: true, all: true, ending: true, args: amqp.Table{"x-queue-type": "quorum"}},
}

// place is one that messages enter in one way.
type place struct {
	*holding
	at            string // its name, and the routing key to it
	fanout        string // an exchange that leads only to it
	before, after []seen
}

// seen is a message as it is shown; scheduled ones of exchanges have no mode.
type seen struct {
	payload string
	mode    uint8
}

// modes are the delivery modes by the payloads of the messages that have them.
var modes = map[string]uint8{"without": 0, "transient": amqp.Transient, "persistent": amqp.Persistent}

// stores reports whether a message survives a restart (STORE-1).
func (h *holding) stores(mode uint8) bool { return h.durable && (h.all || mode == amqp.Persistent) }

// headers are the headers that keep a message in the place.
func (h *holding) headers() amqp.Table {
	if !h.delayed {
		return nil
	}
	return amqp.Table{"x-delay": hour}
}

// each calls f for the messages to be sent to the place.
func (p *place) each(f func(m amqp.Publishing)) {
	for payload, mode := range modes {
		f(amqp.Publishing{Body: []byte(payload), MessageId: payload, DeliveryMode: mode, Headers: p.headers(), AppId: "s"})
	}
}

// senders sends messages in every way.
type senders struct {
	*broker
	*client
	azure *azure
}

// way is one by which messages enter a queue. send lets the three messages enter each of the places, or count others.
type way struct {
	name  string
	send  func(s *senders, to []*place)
	count int // 0 for the three messages
	to    func(h *holding) bool
	modes map[string]uint8 // the delivery modes that the way itself sets, by payload
}

func anywhere(*holding) bool { return true }

func toQueues(h *holding) bool { return !h.exchange }

func toReady(h *holding) bool { return !h.delayed }

func toPlain(h *holding) bool { return !h.delayed && !h.session }

// ways are all ways by which a message enters a queue or a delayed exchange.
var ways = []*way{
	{name: "publish", send: (*senders).publish, to: anywhere},
	{name: "tx", send: (*senders).tx, to: anywhere},
	{name: "fanout", send: (*senders).toAll, to: anywhere},
	{name: "amqp10", send: (*senders).amqp10, to: anywhere, modes: map[string]uint8{"without": amqp.Persistent}},
	{name: "transaction", send: (*senders).transaction, to: toQueues, modes: map[string]uint8{"without": amqp.Persistent}},
	{
		name: "servicebus", send: (*senders).serviceBus, to: toQueues,
		modes: map[string]uint8{"without": amqp.Persistent, "transient": amqp.Persistent},
	},
	{name: "http", send: (*senders).overHTTP, to: anywhere},
	{name: "death", send: (*senders).dead, to: anywhere},
	{name: "forward", send: (*senders).forwarded, to: anywhere},
	{name: "release", send: (*senders).released, to: toReady},
	{name: "move", send: (*senders).moved, to: anywhere},
	{name: "shovel", send: (*senders).shovelled, to: anywhere},
	{name: "history", send: (*senders).remembered, to: anywhere},
	{name: "action", send: (*senders).copied, to: toQueues},
	{name: "answer", send: (*senders).answered, to: toPlain, count: 1},
	{name: "event", send: (*senders).event, to: toPlain, count: 1},
	{name: "trace", send: (*senders).traced, to: toPlain, count: 1},
}

// TestSTORE1_EveryWay: a message may enter a queue in any way; the queue alone decides by its kind and the delivery
// mode whether the message survives the end of the broker; the counts agree, and the delivery mode remains as
// published.
func TestSTORE1_EveryWay(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*broker){"kill": (*broker).kill, "stop": (*broker).stop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := []string{"--servicebus-http", "127.0.0.1:0", "--servicebus-emulator", "--events-vhost", "/"}
			dir := filepath.Join(t.TempDir(), "data")
			b := startIn(t, dir, flags...)
			b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"secret"}`)
			s := &senders{broker: b, client: b.dial(), azure: b.azure()}
			places := map[string][]*place{}
			for _, w := range ways {
				places[w.name] = s.declare(w)
				w.send(s, places[w.name])
			}
			for _, w := range ways {
				s.arrived(w, places[w.name])
			}
			s.end(places)
			s.client.durable("last", nil)
			s.client.persistent("last", "") // everything before it is durable, too
			end(b)
			b = startIn(t, dir, flags...)
			b.request("DELETE", "/api/policies/%2F/full", "", 204)
			for _, w := range ways {
				for _, p := range places[w.name] {
					if p.ending {
						eventually(t, p.at+" has ended", func() bool { code, _ := b.ask("GET", "/api/queues/%2F/"+p.at, ""); return code == 404 })
						p.at = p.target()
					}
					p.after = b.shown(p)
					p.check(t, w.name, name == "kill")
				}
			}
			b.counts(t, places)
		})
	}
}

// declare creates the places for a way.
func (s *senders) declare(w *way) (all []*place) {
	for _, h := range holdings {
		if !w.to(h) {
			continue
		}
		p := &place{holding: h, at: w.name + "." + h.name, fanout: "to." + w.name + "." + h.name}
		all = append(all, p)
		c := s.client
		switch {
		case h.exchange:
			p.fanout = p.at
			c.must(c.ExchangeDeclare(p.at, "x-delayed-message", h.durable, false, false, false, amqp.Table{"x-delayed-type": "fanout"}))
			continue
		case h.name == "entity":
			_, err := administrator(s.broker, "root", "secret").CreateQueue(s.Context(), p.at, nil)
			c.must(err)
		case h.name == "dead-letters":
			c.durable(p.at, amqp.Table{"x-dead-letter-queue": true})
			p.at += ".dlq"
		default:
			_, err := c.QueueDeclare(p.at, h.durable, false, false, false, p.arguments())
			c.must(err)
		}
		if h.ending {
			c.durable(p.target(), amqp.Table{"x-queue-type": "quorum", "x-overflow": "reject-publish"})
		}
		c.must(c.ExchangeDeclare(p.fanout, "fanout", h.durable, false, false, false, nil))
		c.must(c.QueueBind(p.at, "", p.fanout, false, nil))
	}
	return all
}

// target is where the messages of a place go when its lease ends.
func (p *place) target() string { return p.at + ".after" }

// arguments are the arguments of the place's queue.
func (p *place) arguments() amqp.Table {
	args := maps.Clone(p.args)
	if p.ending {
		args = amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": p.target(), "x-expires-dead-letters-backlog": true}
		maps.Copy(args, p.args)
	}
	return args
}

// end ends the leases of places whose targets take nothing.
func (s *senders) end(places map[string][]*place) {
	s.request("PUT", "/api/policies/%2F/full", `{"pattern":"\\.after$","apply-to":"queues","definition":{"max-length":0}}`, 201)
	s.request("PUT", "/api/policies/%2F/ends", `{"pattern":"ending$","apply-to":"queues","definition":{"expires":1}}`, 201)
	for _, w := range ways {
		for _, p := range places[w.name] {
			if p.ending {
				want := fmt.Sprintf(`{"messages_ready":%d,"state":"ending"}`, len(p.before))
				eventually(s.broker.T, p.at+" is ending", func() bool {
					_, text := s.broker.ask("GET", "/api/queues/%2F/"+p.at+"?columns=state,messages_ready", "")
					return strings.TrimSpace(string(text)) == want
				})
			}
		}
	}
}

// Context and Helper are the test's.
func (s *senders) Context() context.Context { return s.broker.Context() }
func (s *senders) Helper()                  { s.broker.Helper() }

func (s *senders) must(err error) {
	s.Helper()
	s.client.must(err)
}

// source declares a queue that forwards messages to a place, and fills it.
func (s *senders) source(p *place, way string, args amqp.Table, change func(m *amqp.Publishing)) string {
	args["x-queue-type"] = "quorum"
	name := s.client.durable(way+".from."+p.name, args)
	p.each(func(m amqp.Publishing) {
		if change != nil {
			change(&m)
		}
		s.client.put("", name, m)
	})
	return name
}

func (s *senders) publish(to []*place) {
	for _, p := range to {
		p.each(func(m amqp.Publishing) { s.client.put(p.fanout, "", m) })
	}
}

func (s *senders) tx(to []*place) {
	ch, err := s.conn.Channel()
	s.must(err)
	s.must(ch.Tx())
	for _, p := range to {
		p.each(func(m amqp.Publishing) { s.must(ch.PublishWithContext(s.Context(), p.fanout, "", false, false, m)) })
	}
	s.must(ch.TxCommit())
	s.must(ch.Close())
}

// toAll sends large messages to all places at once, which share their contents.
func (s *senders) toAll(to []*place) {
	c := s.client
	for _, delayed := range []bool{false, true} {
		all := "all." + fmt.Sprint(delayed)
		c.must(c.ExchangeDeclare(all, "fanout", true, false, false, false, nil))
		var last *place
		for _, p := range to {
			if p.delayed == delayed {
				last = p
				c.must(c.ExchangeBind(p.fanout, "", all, false, nil))
			}
		}
		last.each(func(m amqp.Publishing) {
			m.Body = []byte(strings.Repeat(m.MessageId+" ", 1000))
			c.put(all, "", m)
		})
	}
}

func (s *senders) amqp10(to []*place) {
	conn, err := amqp1.Dial(s.Context(), "amqp://guest:guest@"+s.broker.amqp, nil)
	s.must(err)
	defer conn.Close()
	session, err := conn.NewSession(s.Context(), nil)
	s.must(err)
	for _, p := range to {
		sender, err := session.NewSender(s.Context(), "/exchanges/"+p.fanout, nil)
		s.must(err)
		p.each(func(m amqp.Publishing) {
			out := amqp1.NewMessage(m.Body)
			out.Properties = &amqp1.MessageProperties{MessageID: m.MessageId, GroupID: &m.AppId}
			if p.delayed {
				out.Annotations = amqp1.Annotations{"x-delay": hour}
			}
			if m.DeliveryMode != 0 {
				out.Header = &amqp1.MessageHeader{Durable: m.DeliveryMode == amqp.Persistent}
			}
			s.must(sender.Send(s.Context(), out, nil))
		})
		s.must(sender.Close(s.Context()))
	}
}

func (s *senders) transaction(to []*place) {
	var queues []string
	for _, p := range to {
		queues = append(queues, p.at)
	}
	x, err := transact(s.broker.T, s.broker, s.client.durable("nothing", nil), queues...)
	s.must(err)
	declared, err := x.coordinate(0x31)
	s.must(err)
	for i, p := range to {
		p.each(func(m amqp.Publishing) {
			var encoded []byte
			if m.DeliveryMode != 0 {
				encoded = amqp10.AppendSection(nil, amqp10.SectionHeader, mustList(m.DeliveryMode == amqp.Persistent))
			}
			if p.delayed {
				v, err := amqp10.Append(nil, amqp10.Map{{Key: amqp10.Symbol("x-delay"), Value: hour}})
				s.must(err)
				encoded = amqp10.AppendSection(encoded, amqp10.SectionMessageAnnotations, v)
			}
			encoded = amqp10.AppendSection(encoded, amqp10.SectionProperties, mustList(nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, m.AppId)) // its group-id
			_, err := x.send(uint32(i+1), declared.TxnID, append(amqp10.AppendDataHead(encoded, len(m.Body)), m.Body...))
			s.must(err)
		})
	}
	if _, err := x.coordinate(0x32, declared.TxnID, false); err != nil {
		s.must(err)
	}
}

func (s *senders) serviceBus(to []*place) {
	for _, p := range to {
		sender := s.azure.sender(p.at)
		p.each(func(m amqp.Publishing) {
			out := &azservicebus.Message{Body: m.Body, MessageID: &m.MessageId, SessionID: &m.AppId}
			if p.delayed {
				at := time.Now().Add(time.Hour)
				out.ScheduledEnqueueTime = &at
			}
			s.must(sender.SendMessage(s.azure.ctx, out, nil))
		})
		s.must(sender.Close(s.azure.ctx))
	}
}

func (s *senders) overHTTP(to []*place) {
	for _, p := range to {
		p.each(func(m amqp.Publishing) {
			properties := map[string]any{"message_id": m.MessageId, "app_id": m.AppId}
			if p.delayed {
				properties["headers"] = m.Headers
			}
			if m.DeliveryMode != 0 {
				properties["delivery_mode"] = m.DeliveryMode
			}
			text, err := json.Marshal(map[string]any{"properties": properties, "routing_key": "", "payload": string(m.Body), "payload_encoding": "string"})
			s.must(err)
			s.request("POST", "/api/exchanges/%2F/"+p.fanout+"/publish", string(text), 200)
		})
	}
}

func (s *senders) dead(to []*place) {
	for _, p := range to {
		s.source(p, "death", amqp.Table{"x-dead-letter-exchange": p.fanout}, func(m *amqp.Publishing) { m.Expiration = "1" })
	}
}

func (s *senders) forwarded(to []*place) {
	for _, p := range to {
		s.source(p, "forward", amqp.Table{"x-forward-to": p.fanout}, nil)
	}
}

func (s *senders) released(to []*place) {
	c := s.client
	for _, p := range to {
		later := "release.from." + p.name
		c.must(c.ExchangeDeclare(later, "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "fanout"}))
		c.must(c.QueueBind(p.at, "", later, false, nil))
		p.each(func(m amqp.Publishing) {
			m.Headers = amqp.Table{"x-delay": int64(1)}
			c.put(later, "", m)
		})
	}
}

func (s *senders) moved(to []*place) {
	for _, p := range to {
		from := s.source(p, "move", amqp.Table{}, nil)
		s.request("POST", "/api/x/queues/%2F/"+from+"/move", fmt.Sprintf(`{"to":{"exchange":%q}}`, p.fanout), 200)
		eventually(s.broker.T, from+" is empty", func() bool { return s.broker.holds(from) == 0 }) // few moves run at a time
	}
}

func (s *senders) shovelled(to []*place) {
	for _, p := range to {
		from := s.source(p, "shovel", amqp.Table{}, nil)
		s.request("PUT", "/api/parameters/shovel/%2F/"+p.at, fmt.Sprintf(
			`{"value":{"src-uri":"amqp://","src-queue":%q,"src-predeclared":true,"dest-uri":"amqp://","dest-exchange":%q,"src-delete-after":3}}`, from, p.fanout), 201)
	}
}

// remembered binds a place to an exchange after the messages.
func (s *senders) remembered(to []*place) {
	c := s.client
	for _, p := range to {
		x := "history.from." + p.name
		c.must(c.ExchangeDeclare(x, "x-recent-history", true, false, false, false, nil))
		p.each(func(m amqp.Publishing) { c.put(x, "", m) })
		if p.exchange {
			c.must(c.ExchangeBind(p.at, "", x, false, nil))
		} else {
			c.must(c.QueueBind(p.at, "", x, false, nil))
		}
	}
}

func (s *senders) copied(to []*place) {
	c := s.client
	for _, p := range to {
		x := "action.from." + p.name
		c.must(c.ExchangeDeclare(x, "x-rules", true, false, false, false, nil))
		c.must(c.QueueBind(p.at, "rule", x, false, amqp.Table{"x-rule-sql": "1=1", "x-rule-action": "SET n = 1"}))
		p.each(func(m amqp.Publishing) { c.put(x, "", m) })
	}
}

func (s *senders) answered(to []*place) {
	for _, p := range to {
		s.client.put("candlemark.admin", "queue.peek", amqp.Publishing{ReplyTo: p.at, CorrelationId: "1", Body: fmt.Appendf(nil, `{"queue":%q}`, p.at)})
	}
}

func (s *senders) event(to []*place) {
	for _, p := range to {
		s.must(s.QueueBind(p.at, "policy.set", "amq.rabbitmq.event", false, nil))
	}
	s.broker.verb(0, "set_policy", "any", "^nothing$", `{"max-length":1}`)
	for _, p := range to {
		s.must(s.QueueUnbind(p.at, "policy.set", "amq.rabbitmq.event", nil))
	}
}

func (s *senders) traced(to []*place) {
	for _, p := range to {
		s.must(s.QueueBind(p.at, "publish.amq.direct", "amq.rabbitmq.trace", false, nil))
	}
	s.request("PUT", "/api/vhosts/%2F", `{"tracing":true}`, 204)
	s.client.put("amq.direct", "nowhere", amqp.Publishing{Body: []byte("traced")})
	s.request("PUT", "/api/vhosts/%2F", `{"tracing":false}`, 204)
}

// shown returns the messages in a place, in order; nil if there is no such place.
func (b *broker) shown(p *place) (all []seen) {
	b.Helper()
	path := "/api/x/queues/%2F/" + url.PathEscape(p.at) + "/messages?truncate=20"
	if p.exchange {
		path = "/api/x/exchanges/%2F/" + url.PathEscape(p.at) + "/scheduled"
	}
	code, text := b.ask("GET", path, "")
	if code == 404 && !p.durable {
		return nil
	}
	var page struct {
		Messages []struct {
			Payload    string
			MessageID  string `json:"message_id"` // of a scheduled message
			Properties struct {
				DeliveryMode uint8 `json:"delivery_mode"`
			}
		}
	}
	if err := json.Unmarshal(text, &page); err != nil || code != 200 {
		b.Fatalf("%s: %d %s", path, code, text)
	}
	for _, m := range page.Messages {
		if p.exchange {
			all = append(all, seen{m.MessageID, modes[m.MessageID]})
			continue
		}
		payload, _, _ := strings.Cut(m.Payload, " ")
		all = append(all, seen{payload, m.Properties.DeliveryMode})
	}
	return all
}

// arrived waits until the messages of a way are in their places, with their delivery modes.
func (s *senders) arrived(w *way, places []*place) {
	for _, p := range places {
		count := max(w.count, 0)
		if count == 0 {
			count = len(modes)
		}
		eventually(s.broker.T, fmt.Sprintf("%d messages are in %s", count, p.at), func() bool {
			p.before = s.broker.shown(p)
			return len(p.before) >= count
		})
		for _, m := range p.before {
			mode, known := modes[m.payload]
			if set, is := w.modes[m.payload]; is && !p.exchange {
				mode = set
			}
			if known && w.count == 0 && m.mode != mode && m.mode|mode > 1 { // no delivery mode is the same as 1
				s.broker.Errorf("%s: %s has the delivery mode %d", p.at, m.payload, m.mode)
			}
		}
	}
}

// check compares what is in a place after the restart; a kill may double messages that came from another queue.
func (p *place) check(t *testing.T, way string, killed bool) {
	t.Helper()
	var want []seen
	for _, m := range p.before {
		if p.stores(m.mode) {
			want = append(want, m)
		}
	}
	got := p.after
	if killed {
		seenBefore := map[seen]bool{}
		got = slices.DeleteFunc(slices.Clone(got), func(m seen) bool {
			again := seenBefore[m]
			seenBefore[m] = true
			return again
		})
	}
	if p.ending { // some were retried
		got, want = sorted(got), sorted(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s by %s: %v are left of %v", p.at, way, p.after, p.before)
	}
}

func sorted(all []seen) []seen {
	return slices.SortedFunc(slices.Values(all), func(a, b seen) int { return cmp.Or(cmp.Compare(a.payload, b.payload), cmp.Compare(a.mode, b.mode)) })
}

// counts checks the number of persistent messages of each queue: all its messages.
func (b *broker) counts(t *testing.T, places map[string][]*place) {
	t.Helper()
	var queues []struct {
		Name       string
		Messages   int
		Persistent int `json:"messages_persistent"`
	}
	if err := json.Unmarshal([]byte(b.request("GET", "/api/queues/%2F?columns=name,messages,messages_persistent", "", 200)), &queues); err != nil {
		t.Fatal(err)
	}
	for _, q := range queues {
		if q.Messages != q.Persistent {
			t.Errorf("%s: %d messages survived, %d of them are persistent", q.Name, q.Messages, q.Persistent)
		}
	}
}
