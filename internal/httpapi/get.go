package httpapi

import (
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
func getMessages(r *request) (any, error) {
	_, err := r.broker.Queue(r.Context(), r.vhost, r.name)
	if code, _ := protocolError(err); code == protocol.NotFound {
		return nil, refuse(http.StatusNotFound, "Object Not Found", "queue_not_found")
	}
	if err := r.permitted(auth.Queue, r.name, auth.Read); err != nil {
		return nil, declinedMessage(err)
	}
	b, err := r.json("ackmode", "count", "encoding")
	if err != nil {
		return nil, err
	}
	how, encoding, cut := fetchOf(b)
	if b.err != nil {
		return nil, b.err
	}
	messages, err := r.broker.Get(r.Context(), r.user, r.vhost, r.name, how)
	items := make([]fetchedItem, len(messages))
	for i := range messages {
		items[i] = fetched(&messages[i], encoding, cut)
	}
	return items, declinedMessage(err)
}

// fetchOf reads how messages are to be got and shown; cut is -1 for all of a body.
func fetchOf(b *body) (how Fetch, encoding string, cut int) {
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
