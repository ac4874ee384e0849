package httpapi

import (
	"encoding/base64"
	"errors"
	"net/http"

	"candlemark/internal/auth"
)

// publish publishes one message and tells whether a queue has it.
func publish(r *request) (any, error) {
	x, err := findExchange(r)
	if errors.Is(err, errNotFound) {
		err = refuse(http.StatusNotFound, "Object Not Found", "exchange_not_found")
	}
	if err != nil {
		return nil, err
	}
	if err := r.permitted(auth.Exchange, x.Name, auth.Write); err != nil {
		return nil, declinedMessage(err)
	}
	b, err := r.jsonWithMessage("routing_key", "properties", "payload", "payload_encoding")
	if err != nil {
		return nil, err
	}
	p := publicationOf(b)
	if p.Exchange = x.Name; b.err != nil {
		return nil, b.err
	}
	routed, refused, err := r.broker.Publish(r.Context(), r.user, r.vhost, p)
	if err == nil && refused {
		return nil, complaint("rejected Unable to publish message. Check queue limits.")
	}
	return map[string]bool{"routed": routed}, declinedMessage(err)
}

// publicationOf reads a message, but for its exchange.
func publicationOf(b *body) (p Publication) {
	var payload string
	b.decode("payload", &payload, complaint("payload_not_string"))
	p.RoutingKey, p.Properties = b.text("routing_key"), propertiesOf(b)
	switch encoding := b.text("payload_encoding"); encoding {
	case "string":
		p.Body = []byte(payload)
	case "base64":
		var err error
		if p.Body, err = base64.StdEncoding.DecodeString(payload); err != nil {
			b.fail(tupleOf("not_base64", payload[:min(len(payload), 64)]))
		}
	default:
		b.fail(tupleOf("unsupported_encoding", encoding))
	}
	return p
}
