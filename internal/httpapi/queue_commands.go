package httpapi

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"candlemark/internal/auth"
	"candlemark/protocol"
)

// mostFetched is how many bytes of bodies one request gets, about: it ends with
// the message that exceeds them.
const mostFetched = 64 << 20

// putQueue declares one: 201 if it is new, 204 if it was there, 400 if that one
// is another. As in RabbitMQ nothing can be exclusive that has no connection.
func (a *api) putQueue(r *request) {
	if !a.known(r) {
		return
	}
	if err := a.permitted(r, auth.Queue, r.name, auth.Configure); err != nil {
		a.decline(r, err)
		return
	}
	object, ok := r.body(maxBody)
	if !ok {
		return
	}
	m := &protocol.QueueDeclare{Queue: r.name}
	var durable, autoDelete, arguments error
	m.Durable, durable = flag(object, "durable")
	m.AutoDelete, autoDelete = flag(object, "auto_delete")
	m.Arguments, arguments = table(object["arguments"])
	if bad(r, cmp.Or(tooLong(r.name), durable, autoDelete, arguments)) {
		return
	}
	_, err := a.broker.Queue(r.Context(), r.vhost, r.name)
	if a.run(r, m) {
		done(r, err == nil)
	}
}

// tooLong is the error of a name that AMQP cannot carry.
func tooLong(name string) error {
	if len(name) > 255 {
		return complaintf("queue name should be less than 255 bytes, actually was %d", len(name))
	}
	return nil
}

// queueThere tells whether there is the queue of the path; if not, it has
// answered.
func (a *api) queueThere(r *request) bool {
	_, err := a.broker.Queue(r.Context(), r.vhost, r.name)
	if err != nil {
		a.refuse(r, err)
	}
	return err == nil
}

func (a *api) deleteQueue(r *request) {
	query := r.URL.Query()
	m := &protocol.QueueDelete{Queue: r.name, IfUnused: query.Get("if-unused") == "true", IfEmpty: query.Get("if-empty") == "true"}
	if a.queueThere(r) && a.run(r, m) {
		r.w.WriteHeader(http.StatusNoContent)
	}
}

func (a *api) purgeQueue(r *request) {
	if a.queueThere(r) && a.run(r, &protocol.QueuePurge{Queue: r.name}) {
		r.w.WriteHeader(http.StatusNoContent)
	}
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
func (a *api) getMessages(r *request) {
	_, err := a.broker.Queue(r.Context(), r.vhost, r.name)
	if code, _, _ := told(err); code == protocol.NotFound {
		fail(r.w, http.StatusNotFound, "Object Not Found", "queue_not_found")
		return
	}
	if err := a.permitted(r, auth.Queue, r.name, auth.Read); err != nil {
		a.declineMessage(r, err)
		return
	}
	object, ok := r.body(maxBody)
	if !ok || bad(r, missing(object, "ackmode", "count", "encoding")) {
		return
	}
	how, encoding, cut, err := fetch(object)
	if bad(r, err) {
		return
	}
	messages, err := a.broker.Get(r.Context(), r.user, r.vhost, r.name, how)
	if err != nil {
		a.declineMessage(r, err)
		return
	}
	items := make([]fetchedItem, len(messages))
	for i := range messages {
		items[i] = fetched(&messages[i], encoding, cut)
	}
	answer(r.w, http.StatusOK, items)
}

// fetch reads how messages are to be got and shown; cut is -1 for all of a body.
func fetch(object map[string]json.RawMessage) (how Fetch, encoding string, cut int, err error) {
	mode, _ := text(object, "ackmode")
	switch mode {
	case "ack_requeue_true", "reject_requeue_true":
		how.Keep = true
	case "reject_requeue_false":
		how.Discard = true
	case "ack_requeue_false":
	default:
		return how, "", 0, complaintf("Invalid ackmode value: %s. Valid values are: ack_requeue_true, ack_requeue_false, "+
			"reject_requeue_true, reject_requeue_false", strings.Trim(string(object["ackmode"]), `"`))
	}
	how.MaxBytes = mostFetched
	if how.Count, err = integer(object, "count"); err != nil {
		return how, "", 0, err
	}
	encoding, _ = text(object, "encoding")
	if encoding != "auto" && encoding != "base64" {
		return how, "", 0, complaint("Unsupported encoding. Please use auto or base64.")
	}
	cut = -1
	if object["truncate"] != nil {
		if cut, err = integer(object, "truncate"); err == nil && cut < 0 {
			err = tupleOf("not_integer", cut)
		}
	}
	return how, encoding, cut, err
}

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
