package httpapi

import (
	"errors"

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
func exchanges(r *request) (any, error) {
	all, err := r.broker.Exchanges(r.Context(), r.vhost)
	visible := func(x *Exchange) bool { return r.sees(x.VHost) }
	return listForms(r, all, err, visible, shownExchange, func(x *exchangeItem) string { return x.Name })
}

func exchange(r *request) (any, error) {
	x, err := findExchange(r)
	if err != nil {
		return nil, err
	}
	return one(r, detailedExchange{shownExchange(x), []struct{}{}, []struct{}{}}), nil
}

// putExchange declares one, with the answers of putQueue.
func putExchange(r *request) (any, error) {
	name := exchangeNamed(r.name)
	if err := r.permitted(auth.Exchange, name, auth.Configure); err != nil {
		return nil, declined(err)
	}
	b, err := r.json()
	if err != nil {
		return nil, err
	}
	named(b, "exchange", r.name)
	m := &protocol.ExchangeDeclare{
		Exchange: name, Type: "direct", Durable: b.flag("durable"), AutoDelete: b.flag("auto_delete"), Internal: b.flag("internal"),
	}
	if b.has("type") {
		m.Type = b.text("type")
	}
	if m.Arguments = b.table("arguments"); b.err != nil {
		return nil, b.err
	}
	_, err = findExchange(r)
	if err != nil && !errors.Is(err, errNotFound) {
		return nil, err
	}
	return stored(err != nil), perform(r, m)
}

func deleteExchange(r *request) (any, error) {
	x, err := findExchange(r)
	if err != nil {
		return nil, err
	}
	return nil, perform(r, &protocol.ExchangeDelete{Exchange: x.Name, IfUnused: r.URL.Query().Get("if-unused") == "true"})
}
