package management

import (
	"encoding/base64"
	"hash/fnv"
	"iter"
	"net/url"
	"slices"
	"strings"

	"candlemark/internal/routing/topology"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

func (r *Request) bind() (*Operation, error) {
	var b Bindings
	var queue, exchange string
	var args protocol.Table
	err := r.fields("binding field", map[string]any{
		"source": &b.Source, "destination_queue": &queue, "destination_exchange": &exchange, "binding_key": &b.Key, "arguments": &args,
	})
	if err != nil {
		return nil, err
	}
	if b.Destination = queue; queue == "" {
		b.Destination, b.ToExchange = exchange, true
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	o := &Operation{Kind: Bind, Bindings: b, Method: &protocol.QueueBind{Queue: b.Destination, Exchange: b.Source, RoutingKey: b.Key, Arguments: args}}
	if b.ToExchange {
		o.Method = &protocol.ExchangeBind{Destination: b.Destination, Source: b.Source, RoutingKey: b.Key, Arguments: args}
	}
	return o, nil
}

// unbind reads the location of a binding: src=X;dstq=Q;key=K;args=HASH, or dste=X of an exchange.
func unbind(location string) (*Operation, error) {
	var b Bindings
	parts := strings.Split(location, ";")
	ok := len(parts) == 4
	for i := 0; ok && i < len(parts); i++ {
		name, value, _ := strings.Cut(parts[i], "=")
		decoded, err := decoded(value)
		switch {
		case err != nil:
			return nil, err
		case i == 0 && name == "src":
			b.Source = decoded
		case i == 1 && (name == "dstq" || name == "dste"):
			b.Destination, b.ToExchange = decoded, name == "dste"
		case i == 2 && name == "key":
			b.Key = decoded
		case i == 3 && name == "args":
			b.Hash = decoded
		default:
			ok = false
		}
	}
	if !ok {
		return nil, refuse(400, "bad binding path segment '%s'", short(location))
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return &Operation{Kind: Unbind, Bindings: b, Method: b.unbind(nil)}, nil
}

// unbind returns the method that removes the binding with these arguments.
func (b *Bindings) unbind(args protocol.Table) protocol.Method {
	if b.ToExchange {
		return &protocol.ExchangeUnbind{Destination: b.Destination, Source: b.Source, RoutingKey: b.Key, Arguments: args}
	}
	return &protocol.QueueUnbind{Queue: b.Destination, Exchange: b.Source, RoutingKey: b.Key, Arguments: args}
}

// list reads which bindings to list: src=X&dstq=Q&key=K, or dste=X of an exchange.
func list(query string) (*Operation, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, refuse(400, "failed to dissect query '%s'", short(query))
	}
	b := Bindings{Source: values.Get("src"), Destination: values.Get("dstq"), Key: values.Get("key")}
	if values.Has("dste") {
		b.Destination, b.ToExchange = values.Get("dste"), true
	}
	switch {
	case !values.Has("src") || !values.Has("key"):
		return nil, refuse(400, "missing 'src' or 'key' in query: '%s'", short(query))
	case !values.Has("dste") && !values.Has("dstq"):
		return nil, refuse(400, "missing 'dste' or 'dstq' in query: '%s'", short(query))
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return &Operation{Kind: ListBindings, Bindings: b}, nil
}

// check makes the checks of a binding that precede permissions.
func (b *Bindings) check() error {
	err := notDefault(b.Source)
	if err == nil && b.ToExchange {
		err = notDefault(b.Destination)
	}
	switch {
	case err != nil:
		return err
	case b.Destination == "":
		return refuse(400, "a binding without a queue")
	}
	if err := oneLine(b.Source); err != nil {
		return err
	}
	return oneLine(b.Destination)
}

// of yields the matching bindings of an exchange, which may be nil.
func (b *Bindings) of(x *topology.Exchange) iter.Seq[topology.Binding] {
	return func(yield func(topology.Binding) bool) {
		if x == nil {
			return
		}
		for binding := range x.Routes().BindingsTo(b.Destination, b.ToExchange) {
			if binding.RoutingKey == b.Key && !yield(binding) {
				return
			}
		}
	}
}

// Unbind returns the method that removes the binding with the hash of b; nil if the exchange, which may be nil, has
// none.
func (b *Bindings) Unbind(x *topology.Exchange) protocol.Method {
	for binding := range b.of(x) {
		if hash(binding.Arguments) == b.Hash {
			return b.unbind(binding.Arguments)
		}
	}
	return nil
}

// List answers with the bindings of an exchange, which may be nil.
func (b *Bindings) List(x *topology.Exchange) Answer {
	all := amqp10.List{}
	for binding := range b.of(x) {
		to, letter := "destination_queue", "q"
		if b.ToExchange {
			to, letter = "destination_exchange", "e"
		}
		all = append(all, amqp10.Map{
			{Key: "source", Value: b.Source},
			{Key: to, Value: b.Destination},
			{Key: "binding_key", Value: b.Key},
			{Key: "arguments", Value: convert.Map(binding.Arguments)},
			{Key: "location", Value: "/bindings/src=" + quoted(b.Source) + ";dst" + letter + "=" + quoted(b.Destination) + ";key=" + quoted(b.Key) +
				";args=" + hash(binding.Arguments)},
		})
	}
	return Answer{200, all}
}

// quoted returns a text percent-encoded, except unreserved characters.
func quoted(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// hash identifies arguments, to distinguish otherwise equal bindings; "" for none.
func hash(arguments protocol.Table) string {
	if len(arguments) == 0 {
		return ""
	}
	fields := slices.Clone(arguments)
	slices.SortStableFunc(fields, func(a, b protocol.Field) int { return strings.Compare(a.Key, b.Key) })
	encoded, err := protocol.AppendTable(nil, fields)
	if err != nil {
		panic(err) // clients have sent it encoded
	}
	h := fnv.New64a()
	_, _ = h.Write(encoded) // never fails
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
