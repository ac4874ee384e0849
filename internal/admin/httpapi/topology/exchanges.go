package topology

import (
	"errors"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// exchangeItem is the JSON form of an exchange.
type exchangeItem struct {
	Arguments  forms.Object `json:"arguments"`
	AutoDelete bool         `json:"auto_delete"`
	Durable    bool         `json:"durable"`
	Internal   bool         `json:"internal"`
	May        rest.May     `json:"may,omitzero"`
	Stats      passed       `json:"message_stats"`
	Delayed    *int         `json:"messages_delayed,omitempty"`
	Skipped    uint64       `json:"bindings_skipped,omitempty"`
	Name       string       `json:"name"`
	Policy     string       `json:"policy,omitempty"`
	Type       string       `json:"type"`
	User       string       `json:"user_who_performed_action"`
	VHost      string       `json:"vhost"`
}

// passed are messages that clients have published to an exchange, and copies of them in queues.
type passed struct {
	In      uint64     `json:"publish_in"`
	InRate  forms.Rate `json:"publish_in_details"`
	Out     uint64     `json:"publish_out"`
	OutRate forms.Rate `json:"publish_out_details"`
}

// detailedExchange is the form of an exchange requested by name.
type detailedExchange struct {
	exchangeItem
	Incoming []struct{} `json:"incoming"` // per channel, which the broker does not count
	Outgoing []struct{} `json:"outgoing"` // per queue, which the broker does not count either
}

// internalUser is the value of RabbitMQ's fields for the creator of an object, which is not recorded here.
const internalUser = "rmq-internal"

func shownExchange(r *rest.Request, x *management.Exchange) exchangeItem {
	f := r.Rates.Passed("exchange "+x.VHost+"\x00"+x.Name, float64(x.In), float64(x.Out))
	return exchangeItem{
		Stats:     passed{x.In, f[0], x.Out, f[1]},
		Arguments: forms.Object(x.Arguments), AutoDelete: x.AutoDelete, Durable: x.Durable, Internal: x.Internal, Delayed: x.Delayed, Skipped: x.Skipped,
		Name: x.Name, Policy: x.Policy, Type: x.Type, User: internalUser, VHost: x.VHost, May: mayExchange(r, x),
	}
}

// exchanges lists the exchanges of one virtual host, or of all that the user may see.
func exchanges(r *rest.Request) (any, error) {
	all, err := r.Broker.Exchanges(r.Context(), r.VHost)
	visible := func(x *management.Exchange) bool { return r.Sees(x.VHost) }
	return rest.ListForms(r, all, err, visible, func(x *management.Exchange) exchangeItem { return shownExchange(r, x) }, func(x *management.Exchange) string { return x.Name })
}

func exchange(r *rest.Request) (any, error) {
	x, err := rest.FindExchange(r)
	if err != nil {
		return nil, err
	}
	return rest.One(r, detailedExchange{shownExchange(r, x), []struct{}{}, []struct{}{}}), nil
}

// putExchange declares one, with the answers of putQueue.
func putExchange(r *rest.Request) (any, error) {
	name := rest.ExchangeNamed(r.Name)
	if err := r.Permitted(auth.Exchange, name, auth.Configure); err != nil {
		return nil, rest.Declined(err)
	}
	b := r.JSON()
	named(b, "exchange", r.Name)
	m := &protocol.ExchangeDeclare{
		Exchange: name, Type: "direct", Durable: b.Flag("durable"), AutoDelete: b.Flag("auto_delete"), Internal: b.Flag("internal"),
	}
	if b.Has("type") {
		m.Type = b.Text("type")
	}
	if m.Arguments = b.Table("arguments"); b.Err != nil {
		return nil, b.Err
	}
	_, err := rest.FindExchange(r)
	if err != nil && !errors.Is(err, rest.ErrNotFound) {
		return nil, err
	}
	return rest.Stored(err != nil), perform(r, m)
}

func deleteExchange(r *rest.Request) (any, error) {
	x, err := rest.FindExchange(r)
	if err != nil {
		return nil, err
	}
	return nil, perform(r, &protocol.ExchangeDelete{Exchange: x.Name, IfUnused: r.URL.Query().Get("if-unused") == "true"})
}
