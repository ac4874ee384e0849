package messages

import (
	"encoding/base64"
	"errors"
	"net/http"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// publish publishes one message and reports whether a queue has it.
func publish(r *rest.Request) (any, error) {
	x, err := rest.FindExchange(r)
	if errors.Is(err, rest.ErrNotFound) {
		err = rest.Refuse(http.StatusNotFound, "Object Not Found", "exchange_not_found")
	}
	if err != nil {
		return nil, err
	}
	if err := r.Permitted(auth.Exchange, x.Name, auth.Write); err != nil {
		return nil, declinedMessage(err)
	}
	b := r.JSONWithMessage("routing_key", "properties", "payload", "payload_encoding")
	p := publicationOf(b)
	if p.Exchange = x.Name; b.Err != nil {
		return nil, b.Err
	}
	routed, refused, err := r.Broker.Publish(r.Context(), r.User, r.VHost, p)
	if err == nil && refused {
		return nil, rest.Complaint("rejected Unable to publish message. Check queue limits.")
	}
	return map[string]bool{"routed": routed}, declinedMessage(err)
}

// publicationOf reads a message without its exchange.
func publicationOf(b *rest.Body) (p management.Publication) {
	var payload string
	b.Decode("payload", &payload, rest.Complaint("payload_not_string"))
	p.RoutingKey, p.Properties = b.Text("routing_key"), propertiesOf(b)
	switch encoding := b.Text("payload_encoding"); encoding {
	case "string":
		p.Body = []byte(payload)
	case "base64":
		var err error
		if p.Body, err = base64.StdEncoding.DecodeString(payload); err != nil {
			b.Fail(rest.TupleOf("not_base64", payload[:min(len(payload), 64)]))
		}
	default:
		b.Fail(rest.TupleOf("unsupported_encoding", encoding))
	}
	return p
}
