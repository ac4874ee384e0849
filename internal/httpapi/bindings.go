package httpapi

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/fnv"
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
func listBindings(r *request, f BindingFilter) (any, error) {
	all, err := r.broker.Bindings(r.Context(), f)
	visible := func(b *Binding) bool { return r.sees(b.VHost) }
	return listForms(r, all, err, visible, shownBinding, func(b *bindingItem) string { return b.Destination })
}

// bindings lists those of one virtual host, or of all that the user may see.
func bindings(r *request) (any, error) {
	if r.vhost == "" {
		return listBindings(r, BindingFilter{})
	}
	return listBindings(r, BindingFilter{VHost: &r.vhost})
}

func queueBindings(r *request) (any, error) {
	if _, err := r.broker.Queue(r.Context(), r.vhost, r.name); err != nil {
		return nil, err
	}
	return listBindings(r, BindingFilter{VHost: &r.vhost, Destination: &r.name, ToExchange: new(bool)})
}

func bindingsFrom(r *request) (any, error) {
	x, err := findExchange(r)
	if err != nil {
		return nil, err
	}
	return listBindings(r, BindingFilter{VHost: &r.vhost, Source: &x.Name})
}

func bindingsTo(r *request) (any, error) {
	x, err := findExchange(r)
	if err != nil {
		return nil, err
	}
	toExchange := true
	return listBindings(r, BindingFilter{VHost: &r.vhost, Destination: &x.Name, ToExchange: &toExchange})
}

// ends are the two that a path names.
func ends(r *request) (f BindingFilter, err error) {
	kind := r.part("kind")
	if kind != "e" && kind != "q" {
		err = errNotFound
	}
	source, destination, toExchange := exchangeNamed(r.name), r.part("destination"), kind == "e"
	return BindingFilter{VHost: &r.vhost, Source: &source, Destination: &destination, ToExchange: &toExchange}, err
}

// bindingsBetween lists the bindings between two objects.
func bindingsBetween(r *request) (any, error) {
	f, err := ends(r)
	if err != nil {
		return nil, err
	}
	return listBindings(r, f)
}

// bind makes a binding: 201 and where it is.
func bind(r *request) (any, error) {
	f, err := ends(r)
	if err == nil {
		err = r.exists(errNoVHost)
	}
	if err != nil {
		return nil, err
	}
	kind := auth.Queue
	if *f.ToExchange {
		kind = auth.Exchange
	}
	if err := cmp.Or(r.permitted(kind, *f.Destination, auth.Write), r.permitted(auth.Exchange, *f.Source, auth.Read)); err != nil {
		return nil, declined(err)
	}
	b, err := r.json()
	if err != nil {
		return nil, err
	}
	key, arguments := b.text("routing_key"), b.table("arguments")
	if b.err != nil {
		return nil, b.err
	}
	var m protocol.Method = &protocol.QueueBind{Queue: *f.Destination, Exchange: *f.Source, RoutingKey: key, Arguments: arguments}
	if *f.ToExchange {
		m = &protocol.ExchangeBind{Destination: *f.Destination, Source: *f.Source, RoutingKey: key, Arguments: arguments}
	}
	if err := perform(r, m); err != nil {
		return nil, err
	}
	// Relative to this path, whose last part is the destination.
	r.w.Header().Set("Location", url.PathEscape(*f.Destination)+"/"+url.PathEscape(propertiesKey(key, arguments)))
	return stored(true), nil
}

// findBinding finds the binding of the path. Its last part may have been escaped
// once or twice.
func findBinding(r *request) (*Binding, error) {
	f, err := ends(r)
	if err != nil {
		return nil, err
	}
	all, err := r.broker.Bindings(r.Context(), f)
	wanted := r.part("properties")
	key := func(b *Binding) string { return propertiesKey(b.RoutingKey, b.Arguments) }
	b, err := find(all, err, func(b *Binding) bool { return key(b) == wanted })
	if !errors.Is(err, errNotFound) {
		return b, err
	}
	slices.Reverse(all) // the last one
	return find(all, nil, func(b *Binding) bool {
		once, _ := url.QueryUnescape(key(b))
		return once == wanted
	})
}

func binding(r *request) (any, error) {
	b, err := findBinding(r)
	if err != nil {
		return nil, err
	}
	return one(r, shownBinding(b)), nil
}

func unbind(r *request) (any, error) {
	b, err := findBinding(r)
	if err != nil {
		return nil, err
	}
	var m protocol.Method = &protocol.QueueUnbind{Queue: b.Destination, Exchange: b.Source, RoutingKey: b.RoutingKey, Arguments: b.Arguments}
	if b.ToExchange {
		m = &protocol.ExchangeUnbind{Destination: b.Destination, Source: b.Source, RoutingKey: b.RoutingKey, Arguments: b.Arguments}
	}
	return nil, perform(r, m)
}
