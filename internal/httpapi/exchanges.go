package httpapi

import (
	"encoding/base64"
	"errors"
	"net/http"

	"candlemark/internal/auth"
	"candlemark/protocol"
)

// exchangeItem is the JSON form of an exchange. Messages are not counted per
// exchange.
type exchangeItem struct {
	Arguments  object `json:"arguments"`
	AutoDelete bool   `json:"auto_delete"`
	Durable    bool   `json:"durable"`
	Internal   bool   `json:"internal"`
	Delayed    *int   `json:"messages_delayed,omitempty"`
	Name       string `json:"name"`
	Policy     string `json:"policy,omitempty"`
	Type       string `json:"type"`
	User       string `json:"user_who_performed_action"`
	VHost      string `json:"vhost"`
}

// detailedExchange is the form of one that was asked for by name.
type detailedExchange struct {
	exchangeItem
	Incoming []struct{} `json:"incoming"` // per channel, which the broker does not count
	Outgoing []struct{} `json:"outgoing"` // per queue, likewise
}

// internalUser stands where RabbitMQ tells who made something and we do not
// know.
const internalUser = "rmq-internal"

func shownExchange(x *Exchange) exchangeItem {
	return exchangeItem{
		Arguments: object(x.Arguments), AutoDelete: x.AutoDelete, Durable: x.Durable, Internal: x.Internal, Delayed: x.Delayed,
		Name: x.Name, Policy: x.Policy, Type: x.Type, User: internalUser, VHost: x.VHost,
	}
}

// exchanges lists those of one virtual host, or of all that the user may see.
func (a *api) exchanges(r *request) (any, error) {
	all, err := a.broker.Exchanges(r.Context(), r.vhost)
	visible := func(x *Exchange) bool { return a.sees(r.user, x.VHost) }
	return listForms(r, all, err, visible, shownExchange, func(x *exchangeItem) string { return x.Name })
}

// findExchange finds the exchange of the path. In paths the default exchange is
// called amq.default.
func (a *api) findExchange(r *request) (*Exchange, error) {
	all, err := a.broker.Exchanges(r.Context(), r.vhost)
	name := exchangeNamed(r.name)
	return find(all, err, func(x *Exchange) bool { return x.Name == name && r.vhost != "" })
}

// exchangeNamed is the name that a part of a path means.
func exchangeNamed(part string) string {
	if part == "amq.default" {
		return ""
	}
	return part
}

func (a *api) exchange(r *request) (any, error) {
	x, err := a.findExchange(r)
	if err != nil {
		return nil, err
	}
	return one(r, detailedExchange{shownExchange(x), []struct{}{}, []struct{}{}}), nil
}

// putExchange declares one, with the answers of putQueue.
func (a *api) putExchange(r *request) (any, error) {
	name := exchangeNamed(r.name)
	if err := a.permitted(r, auth.Exchange, name, auth.Configure); err != nil {
		return nil, declined(err)
	}
	b, err := r.body(maxBody)
	if err != nil {
		return nil, err
	}
	b.named("exchange", r.name)
	m := &protocol.ExchangeDeclare{
		Exchange: name, Type: "direct", Durable: b.flag("durable"), AutoDelete: b.flag("auto_delete"), Internal: b.flag("internal"),
	}
	if b.has("type") {
		m.Type = b.text("type")
	}
	if m.Arguments = b.table("arguments"); b.err != nil {
		return nil, b.err
	}
	_, err = a.findExchange(r)
	if err != nil && !errors.Is(err, errNotFound) {
		return nil, err
	}
	return stored(err != nil), a.run(r, m)
}

func (a *api) deleteExchange(r *request) (any, error) {
	x, err := a.findExchange(r)
	if err != nil {
		return nil, err
	}
	return nil, a.run(r, &protocol.ExchangeDelete{Exchange: x.Name, IfUnused: r.URL.Query().Get("if-unused") == "true"})
}

// publish publishes one message and tells whether a queue has it.
func (a *api) publish(r *request) (any, error) {
	x, err := a.findExchange(r)
	if errors.Is(err, errNotFound) {
		err = refuse(http.StatusNotFound, "Object Not Found", "exchange_not_found")
	}
	if err != nil {
		return nil, err
	}
	if err := a.permitted(r, auth.Exchange, x.Name, auth.Write); err != nil {
		return nil, declinedMessage(err)
	}
	b, err := r.body(largestPublish, "routing_key", "properties", "payload", "payload_encoding")
	if err != nil {
		return nil, err
	}
	p := b.publication()
	if p.Exchange = x.Name; b.err != nil {
		return nil, b.err
	}
	routed, refused, err := a.broker.Publish(r.Context(), r.user, r.vhost, p)
	if err == nil && refused {
		return nil, complaint("rejected Unable to publish message. Check queue limits.")
	}
	return map[string]bool{"routed": routed}, declinedMessage(err)
}

// publication reads a message, but for its exchange.
func (b *body) publication() (p Publication) {
	var payload string
	b.decode("payload", &payload, complaint("payload_not_string"))
	p.RoutingKey, p.Properties = b.text("routing_key"), b.properties("properties")
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
