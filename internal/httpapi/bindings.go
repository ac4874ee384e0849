package httpapi

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"candlemark/internal/auth"
	"candlemark/protocol"
)

// bindingItem is the JSON form of a binding.
type bindingItem struct {
	Source          string `json:"source"`
	VHost           string `json:"vhost"`
	Destination     string `json:"destination"`
	DestinationType string `json:"destination_type"`
	RoutingKey      string `json:"routing_key"`
	Arguments       object `json:"arguments"`
	PropertiesKey   string `json:"properties_key"`
}

func shownBinding(b *Binding) bindingItem {
	item := bindingItem{
		Source: b.Source, VHost: b.VHost, Destination: b.Destination, DestinationType: "queue",
		RoutingKey: b.RoutingKey, Arguments: object(b.Arguments), PropertiesKey: propertiesKey(b.RoutingKey, b.Arguments),
	}
	if b.ToExchange {
		item.DestinationType = "exchange"
	}
	return item
}

// propertiesKey tells the bindings between two objects apart in paths: the
// escaped routing key, and behind ~ a hash of the arguments if there are any.
// The empty key is ~ or nothing.
func propertiesKey(key string, arguments protocol.Table) string {
	quoted := strings.ReplaceAll(url.QueryEscape(key), "~", "%7E")
	switch {
	case len(arguments) > 0:
		return quoted + "~" + argumentsHash(arguments)
	case key == "":
		return "~"
	}
	return quoted
}

// argumentsHash looks like RabbitMQ's and has other values.
func argumentsHash(arguments protocol.Table) string {
	fields := slices.Clone(arguments)
	slices.SortStableFunc(fields, func(a, b protocol.Field) int { return strings.Compare(a.Key, b.Key) })
	encoded, err := protocol.AppendTable(nil, fields)
	if err != nil {
		panic(err) // it came from a frame or from JSON
	}
	h := fnv.New32a()
	_, _ = h.Write(encoded) // never fails
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, h.Sum32()))
}

// listBindings answers with those that the filter lets through.
func (a *api) listBindings(r *request, f BindingFilter) {
	all, err := a.broker.Bindings(r.Context(), f)
	if err != nil {
		a.refuse(r, err)
		return
	}
	items := make([]bindingItem, 0, len(all))
	for i := range all {
		if a.sees(r.user, all[i].VHost) {
			items = append(items, shownBinding(&all[i]))
		}
	}
	list(r, items, func(b *bindingItem) string { return b.Destination })
}

// bindings lists those of one virtual host, or of all that the user may see.
func (a *api) bindings(r *request) {
	if r.vhost == "" {
		a.listBindings(r, BindingFilter{})
		return
	}
	if a.exists(r) {
		a.listBindings(r, BindingFilter{VHost: &r.vhost})
	}
}

func (a *api) queueBindings(r *request) {
	toExchange := false
	if a.queueThere(r) {
		a.listBindings(r, BindingFilter{VHost: &r.vhost, Destination: &r.name, ToExchange: &toExchange})
	}
}

// exchangeBindings lists those from an exchange, or to it.
func (a *api) exchangeBindings(source bool) func(*request) {
	return func(r *request) {
		x, err := a.findExchange(r)
		toExchange := true
		switch {
		case err != nil:
			a.refuse(r, err)
		case x == nil:
			notFound(r.w, r.Request)
		case source:
			a.listBindings(r, BindingFilter{VHost: &r.vhost, Source: &x.Name})
		default:
			a.listBindings(r, BindingFilter{VHost: &r.vhost, Destination: &x.Name, ToExchange: &toExchange})
		}
	}
}

// ends are the two that a path names.
func ends(r *request) (f BindingFilter, ok bool) {
	kind := r.part("kind")
	source, destination, toExchange := exchangeNamed(r.name), r.part("destination"), kind == "e"
	return BindingFilter{VHost: &r.vhost, Source: &source, Destination: &destination, ToExchange: &toExchange}, kind == "e" || kind == "q"
}

// bindingsBetween lists the bindings between two objects.
func (a *api) bindingsBetween(r *request) {
	f, ok := ends(r)
	if !ok {
		notFound(r.w, r.Request)
		return
	}
	if a.exists(r) {
		a.listBindings(r, f)
	}
}

// bind makes a binding: 201 and where it is.
func (a *api) bind(r *request) {
	f, ok := ends(r)
	if !ok {
		notFound(r.w, r.Request)
		return
	}
	if !a.known(r) {
		return
	}
	kind := auth.Queue
	if *f.ToExchange {
		kind = auth.Exchange
	}
	if err := cmp.Or(a.permitted(r, kind, *f.Destination, auth.Write), a.permitted(r, auth.Exchange, *f.Source, auth.Read)); err != nil {
		a.decline(r, err)
		return
	}
	object, ok := r.body(maxBody)
	if !ok {
		return
	}
	routingKey, err := text(object, "routing_key")
	arguments, bothErr := table(object["arguments"])
	if bad(r, cmp.Or(err, bothErr)) {
		return
	}
	var m protocol.Method = &protocol.QueueBind{Queue: *f.Destination, Exchange: *f.Source, RoutingKey: routingKey, Arguments: arguments}
	if *f.ToExchange {
		m = &protocol.ExchangeBind{Destination: *f.Destination, Source: *f.Source, RoutingKey: routingKey, Arguments: arguments}
	}
	if !a.run(r, m) {
		return
	}
	// Relative to this path, whose last part is the destination.
	r.w.Header().Set("Location", url.PathEscape(*f.Destination)+"/"+url.PathEscape(propertiesKey(routingKey, arguments)))
	r.w.WriteHeader(http.StatusCreated)
}

// findBinding finds the binding of the path, nil if there is none. Its last part
// may have been escaped once or twice.
func (a *api) findBinding(r *request) (*Binding, error) {
	f, ok := ends(r)
	if !ok {
		return nil, nil
	}
	all, err := a.broker.Bindings(r.Context(), f)
	wanted := r.part("properties")
	var found *Binding
	for i := range all {
		key := propertiesKey(all[i].RoutingKey, all[i].Arguments)
		if key == wanted {
			return &all[i], err
		}
		if once, _ := url.QueryUnescape(key); once == wanted {
			found = &all[i]
		}
	}
	return found, err
}

func (a *api) binding(r *request) {
	b, err := a.findBinding(r)
	switch {
	case err != nil:
		a.refuse(r, err)
	case b == nil:
		notFound(r.w, r.Request)
	default:
		one(r, shownBinding(b))
	}
}

func (a *api) unbind(r *request) {
	b, err := a.findBinding(r)
	switch {
	case err != nil:
		a.refuse(r, err)
	case b == nil:
		notFound(r.w, r.Request)
	default:
		var m protocol.Method = &protocol.QueueUnbind{Queue: b.Destination, Exchange: b.Source, RoutingKey: b.RoutingKey, Arguments: b.Arguments}
		if b.ToExchange {
			m = &protocol.ExchangeUnbind{Destination: b.Destination, Source: b.Source, RoutingKey: b.RoutingKey, Arguments: b.Arguments}
		}
		if a.run(r, m) {
			r.w.WriteHeader(http.StatusNoContent)
		}
	}
}
