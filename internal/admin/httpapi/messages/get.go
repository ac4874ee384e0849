package messages

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// maxFetched is the approximate limit of the messages of one request in bytes: it ends with the message that exceeds the
// limit.
const maxFetched = 8 << 20

// fetchedItem is the form of a message that was got.
type fetchedItem struct {
	Bytes        int          `json:"payload_bytes"`
	Redelivered  bool         `json:"redelivered"`
	Exchange     string       `json:"exchange"`
	RoutingKey   string       `json:"routing_key"`
	MessageCount uint32       `json:"message_count"`
	Properties   forms.Object `json:"properties"`
	Payload      string       `json:"payload"`
	Encoding     string       `json:"payload_encoding"`
}

// fetch is basic.get, and renews the queue's lease like it (LEASE-4).
func fetch(r *rest.Request) (any, error) {
	_, err := r.Broker.Queue(r.Context(), r.VHost, r.Name)
	if code, _ := rest.ProtocolError(err); code == protocol.NotFound {
		return nil, rest.Refuse(http.StatusNotFound, "Object Not Found", "queue_not_found")
	}
	if err := r.Permitted(auth.Queue, r.Name, auth.Read); err != nil {
		return nil, declinedMessage(err)
	}
	b := r.JSON("ackmode", "count", "encoding")
	how, encoding, cut := fetchOf(b)
	if b.Err != nil {
		return nil, b.Err
	}
	if err := r.Turn(); err != nil { // not before the body has arrived
		return nil, err
	}
	messages, err := r.Broker.Get(r.Context(), r.User, r.VHost, r.Name, how)
	items := make([]fetchedItem, len(messages))
	for i := range messages {
		items[i] = fetched(&messages[i], encoding, cut)
		messages[i] = management.Fetched{} // so that the body is held once
	}
	return items, declinedMessage(err)
}

// fetchOf reads how to get and show messages; cut is -1 for complete bodies.
func fetchOf(b *rest.Body) (how management.Fetch, encoding string, cut int) {
	how.MaxBytes, cut = maxFetched, -1
	var mode string
	_ = json.Unmarshal(b.Fields["ackmode"], &mode)
	switch mode {
	case "ack_requeue_true", "reject_requeue_true":
		how.Keep = true
	case "reject_requeue_false":
		how.Discard = true
	case "ack_requeue_false":
	default:
		b.Fail(rest.Complaintf("Invalid ackmode value: %s. Valid values are: ack_requeue_true, ack_requeue_false, "+
			"reject_requeue_true, reject_requeue_false", strings.Trim(string(b.Fields["ackmode"]), `"`)))
	}
	how.Count = b.Integer("count")
	_ = json.Unmarshal(b.Fields["encoding"], &encoding)
	if encoding != "auto" && encoding != "base64" {
		b.Fail(errEncoding)
	}
	if b.Has("truncate") {
		if cut = b.Integer("truncate"); cut < 0 {
			b.Fail(rest.TupleOf("not_integer", cut))
		}
	}
	return how, encoding, cut
}

var errEncoding = rest.Complaint("Unsupported encoding. Please use auto or base64.")

func fetched(m *management.Fetched, encoding string, cut int) fetchedItem {
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
