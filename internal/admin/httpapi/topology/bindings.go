package topology

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"net/url"
	"slices"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// bindingItem is the JSON form of a binding.
type bindingItem struct {
	Source          string       `json:"source"`
	VHost           string       `json:"vhost"`
	Destination     string       `json:"destination"`
	DestinationType string       `json:"destination_type"`
	RoutingKey      string       `json:"routing_key"`
	Arguments       forms.Object `json:"arguments"`
	PropertiesKey   string       `json:"properties_key"`
	May             rest.May     `json:"may,omitzero"`
}

func shownBinding(r *rest.Request, b *management.Binding) bindingItem {
	item := bindingItem{
		Source: b.Source, VHost: b.VHost, Destination: b.Destination, DestinationType: "queue",
		RoutingKey: b.RoutingKey, Arguments: forms.Object(b.Arguments), PropertiesKey: propertiesKey(b.RoutingKey, b.Arguments), May: mayBinding(r, b),
	}
	if b.ToExchange {
		item.DestinationType = "exchange"
	}
	return item
}

// propertiesKey identifies one of the bindings between two objects in paths: the escaped routing key, and after ~ a
// hash of the arguments if there are any. The empty key is ~ or nothing.
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

// listBindings answers with the bindings that the filter lets through.
func listBindings(r *rest.Request, f management.BindingFilter) (any, error) {
	all, err := r.Broker.Bindings(r.Context(), f)
	visible := func(b *management.Binding) bool { return r.Sees(b.VHost) }
	return rest.ListForms(r, all, err, visible, func(b *management.Binding) bindingItem { return shownBinding(r, b) }, func(b *management.Binding) string { return b.Destination })
}

// bindings lists the bindings of one virtual host, or of all that the user may see.
func bindings(r *rest.Request) (any, error) {
	if r.VHost == "" {
		return listBindings(r, management.BindingFilter{})
	}
	return listBindings(r, management.BindingFilter{VHost: &r.VHost})
}

func queueBindings(r *rest.Request) (any, error) {
	if _, err := r.Broker.Queue(r.Context(), r.VHost, r.Name); err != nil {
		return nil, err
	}
	return listBindings(r, management.BindingFilter{VHost: &r.VHost, Destination: &r.Name, ToExchange: new(bool)})
}

func bindingsFrom(r *rest.Request) (any, error) {
	x, err := rest.FindExchange(r)
	if err != nil {
		return nil, err
	}
	return listBindings(r, management.BindingFilter{VHost: &r.VHost, Source: &x.Name})
}

func bindingsTo(r *rest.Request) (any, error) {
	x, err := rest.FindExchange(r)
	if err != nil {
		return nil, err
	}
	toExchange := true
	return listBindings(r, management.BindingFilter{VHost: &r.VHost, Destination: &x.Name, ToExchange: &toExchange})
}

// ends returns the two that a path names.
func ends(r *rest.Request) (f management.BindingFilter, err error) {
	kind := r.Part("kind")
	if kind != "e" && kind != "q" {
		err = rest.ErrNotFound
	}
	source, destination, toExchange := rest.ExchangeNamed(r.Name), r.Part("destination"), kind == "e"
	return management.BindingFilter{VHost: &r.VHost, Source: &source, Destination: &destination, ToExchange: &toExchange}, err
}

// bindingsBetween lists the bindings between two objects.
func bindingsBetween(r *rest.Request) (any, error) {
	f, err := ends(r)
	if err != nil {
		return nil, err
	}
	return listBindings(r, f)
}

// bind makes a binding: 201 and where it is.
func bind(r *rest.Request) (any, error) {
	f, err := ends(r)
	if err == nil {
		err = r.Exists(rest.ErrNoVHost)
	}
	if err != nil {
		return nil, err
	}
	kind := auth.Queue
	if *f.ToExchange {
		kind = auth.Exchange
	}
	if err := cmp.Or(r.Permitted(kind, *f.Destination, auth.Write), r.Permitted(auth.Exchange, *f.Source, auth.Read)); err != nil {
		return nil, rest.Declined(err)
	}
	b := r.JSON()
	key, arguments := b.Text("routing_key"), b.Table("arguments")
	if b.Err != nil {
		return nil, b.Err
	}
	var m protocol.Method = &protocol.QueueBind{Queue: *f.Destination, Exchange: *f.Source, RoutingKey: key, Arguments: arguments}
	if *f.ToExchange {
		m = &protocol.ExchangeBind{Destination: *f.Destination, Source: *f.Source, RoutingKey: key, Arguments: arguments}
	}
	if err := perform(r, m); err != nil {
		return nil, err
	}
	// Relative to this path, whose last part is the destination.
	r.W.Header().Set("Location", url.PathEscape(*f.Destination)+"/"+url.PathEscape(propertiesKey(key, arguments)))
	return rest.Stored(true), nil
}

// findBinding finds the binding of the path. Its last part may have been escaped
// once or twice.
func findBinding(r *rest.Request) (*management.Binding, error) {
	f, err := ends(r)
	if err != nil {
		return nil, err
	}
	all, err := r.Broker.Bindings(r.Context(), f)
	wanted := r.Part("properties")
	key := func(b *management.Binding) string { return propertiesKey(b.RoutingKey, b.Arguments) }
	b, err := rest.Find(all, err, func(b *management.Binding) bool { return key(b) == wanted })
	if !errors.Is(err, rest.ErrNotFound) {
		return b, err
	}
	slices.Reverse(all) // the last one
	return rest.Find(all, nil, func(b *management.Binding) bool {
		once, _ := url.QueryUnescape(key(b))
		return once == wanted
	})
}

func binding(r *rest.Request) (any, error) {
	b, err := findBinding(r)
	if err != nil {
		return nil, err
	}
	return rest.One(r, shownBinding(r, b)), nil
}

func unbind(r *rest.Request) (any, error) {
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
