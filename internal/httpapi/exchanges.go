package httpapi

import (
	"cmp"
	"encoding/base64"
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
func (a *api) exchanges(r *request) {
	if r.vhost != "" && !a.exists(r) {
		return
	}
	all, err := a.broker.Exchanges(r.Context(), r.vhost)
	if err != nil {
		a.refuse(r, err)
		return
	}
	items := make([]exchangeItem, 0, len(all))
	for i := range all {
		if a.sees(r.user, all[i].VHost) {
			items = append(items, shownExchange(&all[i]))
		}
	}
	list(r, items, func(x *exchangeItem) string { return x.Name })
}

// findExchange finds the exchange of the path, nil if there is none. In paths
// the default exchange is called amq.default.
func (a *api) findExchange(r *request) (*Exchange, error) {
	all, err := a.broker.Exchanges(r.Context(), r.vhost)
	if err != nil || r.vhost == "" {
		return nil, err
	}
	name := exchangeNamed(r.name)
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, nil
}

// exchangeNamed is the name that a part of a path means.
func exchangeNamed(part string) string {
	if part == "amq.default" {
		return ""
	}
	return part
}

func (a *api) exchange(r *request) {
	x, err := a.findExchange(r)
	switch {
	case err != nil:
		a.refuse(r, err)
	case x == nil:
		notFound(r.w, r.Request)
	default:
		one(r, detailedExchange{shownExchange(x), []struct{}{}, []struct{}{}})
	}
}

// putExchange declares one, with the answers of putQueue.
func (a *api) putExchange(r *request) {
	if !a.known(r) {
		return
	}
	if err := a.permitted(r, auth.Exchange, exchangeNamed(r.name), auth.Configure); err != nil {
		a.decline(r, err)
		return
	}
	object, ok := r.body(maxBody)
	if !ok {
		return
	}
	m := &protocol.ExchangeDeclare{Exchange: exchangeNamed(r.name), Type: "direct"}
	var durable, autoDelete, internal, kind, arguments, long error
	m.Durable, durable = flag(object, "durable")
	m.AutoDelete, autoDelete = flag(object, "auto_delete")
	m.Internal, internal = flag(object, "internal")
	m.Arguments, arguments = table(object["arguments"])
	if object["type"] != nil {
		m.Type, kind = text(object, "type")
	}
	if len(r.name) > 255 {
		long = complaintf("exchange name should be less than 255 bytes, actually was %d", len(r.name))
	}
	if bad(r, cmp.Or(long, durable, autoDelete, internal, kind, arguments)) {
		return
	}
	x, err := a.findExchange(r)
	if err != nil {
		a.refuse(r, err)
		return
	}
	if a.run(r, m) {
		done(r, x != nil)
	}
}

func (a *api) deleteExchange(r *request) {
	x, err := a.findExchange(r)
	switch {
	case err != nil:
		a.refuse(r, err)
	case x == nil:
		notFound(r.w, r.Request)
	case a.run(r, &protocol.ExchangeDelete{Exchange: x.Name, IfUnused: r.URL.Query().Get("if-unused") == "true"}):
		r.w.WriteHeader(http.StatusNoContent)
	}
}

// publish publishes one message and tells whether a queue has it.
func (a *api) publish(r *request) {
	x, err := a.findExchange(r)
	if err != nil {
		a.refuse(r, err)
		return
	}
	if x == nil {
		fail(r.w, http.StatusNotFound, "Object Not Found", "exchange_not_found")
		return
	}
	if err := a.permitted(r, auth.Exchange, x.Name, auth.Write); err != nil {
		a.declineMessage(r, err)
		return
	}
	object, ok := r.body(largestPublish)
	if !ok || bad(r, missing(object, "routing_key", "properties", "payload", "payload_encoding")) {
		return
	}
	p := Publication{Exchange: x.Name}
	var key, properties, payload, encoding error
	var body, form string
	p.RoutingKey, key = text(object, "routing_key")
	p.Properties, properties = readProperties(object["properties"])
	form, encoding = text(object, "payload_encoding")
	if body, payload = text(object, "payload"); payload != nil {
		payload = complaint("payload_not_string")
	}
	if bad(r, cmp.Or(payload, key, properties, encoding)) {
		return
	}
	switch form {
	case "string":
		p.Body = []byte(body)
	case "base64":
		if p.Body, err = base64.StdEncoding.DecodeString(body); err != nil {
			bad(r, tupleOf("not_base64", body[:min(len(body), 64)]))
			return
		}
	default:
		bad(r, tupleOf("unsupported_encoding", form))
		return
	}
	routed, refused, err := a.broker.Publish(r.Context(), r.user, r.vhost, p)
	switch {
	case err != nil:
		a.declineMessage(r, err)
	case refused:
		fail(r.w, http.StatusBadRequest, "bad_request", "rejected Unable to publish message. Check queue limits.")
	default:
		answer(r.w, http.StatusOK, map[string]bool{"routed": routed})
	}
}
