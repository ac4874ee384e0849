package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"unicode/utf8"

	"candlemark/internal/auth"
	"candlemark/protocol"
)

// mostFetched is how many bytes of bodies one request gets, about: it ends with
// the message that exceeds them.
const mostFetched = 64 << 20

// run has the broker carry out a method as the user.
func (a *api) run(r *request, m protocol.Method) error {
	_, err := a.broker.Run(r.Context(), r.user, r.vhost, m)
	return declined(err)
}

// putQueue declares one: 201 if it is new, 204 if it was there, 400 if that one
// is another. As in RabbitMQ nothing can be exclusive that has no connection.
func (a *api) putQueue(r *request) (any, error) {
	if err := a.permitted(r, auth.Queue, r.name, auth.Configure); err != nil {
		return nil, declined(err)
	}
	b, err := r.body(maxBody)
	if err != nil {
		return nil, err
	}
	b.named("queue", r.name)
	m := &protocol.QueueDeclare{Queue: r.name, Durable: b.flag("durable"), AutoDelete: b.flag("auto_delete"), Arguments: b.table("arguments")}
	if b.err != nil {
		return nil, b.err
	}
	_, err = a.broker.Queue(r.Context(), r.vhost, r.name)
	return stored(err != nil), a.run(r, m)
}

// named complains of a name that AMQP cannot carry.
func (b *body) named(kind, name string) {
	if len(name) > math.MaxUint8 {
		b.fail(complaintf("%s name should be less than 255 bytes, actually was %d", kind, len(name)))
	}
}

// atQueue has the broker carry out a method if there is the queue of the path.
func (a *api) atQueue(r *request, m protocol.Method) error {
	if _, err := a.broker.Queue(r.Context(), r.vhost, r.name); err != nil {
		return err
	}
	return a.run(r, m)
}

func (a *api) deleteQueue(r *request) (any, error) {
	query := r.URL.Query()
	return nil, a.atQueue(r, &protocol.QueueDelete{
		Queue: r.name, IfUnused: query.Get("if-unused") == "true", IfEmpty: query.Get("if-empty") == "true",
	})
}

func (a *api) purgeQueue(r *request) (any, error) {
	return nil, a.atQueue(r, &protocol.QueuePurge{Queue: r.name})
}

// fetchedItem is the form of a message that was got.
type fetchedItem struct {
	Bytes        int    `json:"payload_bytes"`
	Redelivered  bool   `json:"redelivered"`
	Exchange     string `json:"exchange"`
	RoutingKey   string `json:"routing_key"`
	MessageCount uint32 `json:"message_count"`
	Properties   object `json:"properties"`
	Payload      string `json:"payload"`
	Encoding     string `json:"payload_encoding"`
}

// getMessages is basic.get, and renews the queue's lease like it (LEASE-4).
func (a *api) getMessages(r *request) (any, error) {
	_, err := a.broker.Queue(r.Context(), r.vhost, r.name)
	if code, _ := protocolError(err); code == protocol.NotFound {
		return nil, refuse(http.StatusNotFound, "Object Not Found", "queue_not_found")
	}
	if err := a.permitted(r, auth.Queue, r.name, auth.Read); err != nil {
		return nil, declinedMessage(err)
	}
	b, err := r.body(maxBody, "ackmode", "count", "encoding")
	if err != nil {
		return nil, err
	}
	how, encoding, cut := b.fetch()
	if b.err != nil {
		return nil, b.err
	}
	messages, err := a.broker.Get(r.Context(), r.user, r.vhost, r.name, how)
	items := make([]fetchedItem, len(messages))
	for i := range messages {
		items[i] = fetched(&messages[i], encoding, cut)
	}
	return items, declinedMessage(err)
}

// fetch reads how messages are to be got and shown; cut is -1 for all of a body.
func (b *body) fetch() (how Fetch, encoding string, cut int) {
	how.MaxBytes, cut = mostFetched, -1
	var mode string
	_ = json.Unmarshal(b.fields["ackmode"], &mode)
	switch mode {
	case "ack_requeue_true", "reject_requeue_true":
		how.Keep = true
	case "reject_requeue_false":
		how.Discard = true
	case "ack_requeue_false":
	default:
		b.fail(complaintf("Invalid ackmode value: %s. Valid values are: ack_requeue_true, ack_requeue_false, "+
			"reject_requeue_true, reject_requeue_false", strings.Trim(string(b.fields["ackmode"]), `"`)))
	}
	how.Count = b.integer("count")
	_ = json.Unmarshal(b.fields["encoding"], &encoding)
	if encoding != "auto" && encoding != "base64" {
		b.fail(errEncoding)
	}
	if b.has("truncate") {
		if cut = b.integer("truncate"); cut < 0 {
			b.fail(tupleOf("not_integer", cut))
		}
	}
	return how, encoding, cut
}

var errEncoding = complaint("Unsupported encoding. Please use auto or base64.")

func fetched(m *Fetched, encoding string, cut int) fetchedItem {
	item := fetchedItem{
		Bytes: len(m.Body), Redelivered: m.Redelivered, Exchange: m.Exchange, RoutingKey: m.RoutingKey,
		MessageCount: m.MessageCount, Properties: shownProperties(&m.Properties),
	}
	body := m.Body
	if cut >= 0 && cut < len(body) {
		body = body[:cut]
	}
	if encoding == "auto" && utf8.Valid(body) {
		item.Payload, item.Encoding = string(body), "string"
	} else {
		item.Payload, item.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
	}
	return item
}
