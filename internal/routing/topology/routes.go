package topology

import (
	"iter"
	"slices"
	"strings"

	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/topology/canonical"
	"candlemark/protocol"
)

// Binding is one binding as a client made it. Its identity is all fields but User; the order of the arguments does not
// matter, their types and values do.
type Binding struct {
	// Destination is the name of the queue, or of the exchange when ToExchange is set.
	Destination string
	ToExchange  bool
	// RoutingKey is the binding key: kept for every type of exchange, used by direct and topic.
	RoutingKey string
	// Arguments are kept for every type of exchange, used by headers. A value whose type is not one of the Go types of
	// protocol.Table is a programming error and panics.
	Arguments protocol.Table
	// User made the binding; "" if that is not known or was the broker.
	User string
}

// Target is the destination of a binding: exactly one of the two is set.
type Target struct {
	Queue    *Queue
	Exchange *Exchange
}

// BindingTable is the routing table of one exchange: its bindings and the matcher of its type. It is immutable; every change makes a new one in O(log n).
type BindingTable struct {
	// Alternate is the name of the effective alternate exchange, "" for none (DEC-14).
	Alternate string
	// MaxTTL is the maximum time in ms that messages routed by the exchange may stay in a queue, if Capped (TTL-9).
	MaxTTL int64
	Capped bool

	alternate []byte // the same, in the form that Directory.Exchange takes
	bindings  tree[*bound]
	matcher   matcher
	history   *Queue // of an exchange that keeps the messages it routes, else nil
}

// bound is a binding in the table.
type bound struct {
	Binding
	target Target
	id     string // identity: the destination's key, then routing key and arguments
	dest   string // the destination's key, the beginning of id
	since  uint64 // number of the first table with it, if they are numbered
}

// matcher is the part of a routing table that depends on the type of the exchange. It is immutable.
type matcher interface {
	// with and without return the matcher after adding a new binding, or removing an existing one.
	with(b *bound) matcher
	without(b *bound) matcher
	// match calls Router.collect with the destinations for the current publish of r.
	match(r *Router)
	// loads returns what the bindings cost each publish.
	loads() []load
}

// load is a cost of bindings, and its limit.
type load struct {
	n, most int
	what    string
}

// CheckLoad returns an error if r, the next table of an exchange after was, costs publishes more than is permitted, and
// more than was: 406 for the new binding, so that bindings do not make publishes fail (DEC-19).
func (r *BindingTable) CheckLoad(was *BindingTable, exchange, vhost string) error {
	before := was.matcher.loads()
	for i, now := range r.matcher.loads() {
		if now.n > now.most && now.n > before[i].n {
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "cannot bind to exchange '%s' in vhost '%s': %s would be %d, more than %d",
				exchange, vhost, now.what, now.n, now.most)
		}
	}
	return nil
}

// NewRoutes makes the empty table of an exchange of type kind: direct, fanout, topic, headers, x-rules,
// x-recent-history, or a type of pick.go, some of which depend on the arguments of the exchange. It is false for any
// other type.
func NewRoutes(kind string, args protocol.Table) (*BindingTable, bool) {
	switch kind {
	case "direct":
		return &BindingTable{matcher: &direct{}}, true
	case "fanout", RecentHistoryType:
		return &BindingTable{matcher: &fanout{}}, true
	case "topic":
		return &BindingTable{matcher: &topic{}}, true
	case "headers":
		return &BindingTable{matcher: &headers{}}, true
	case filter.ExchangeType:
		return &BindingTable{matcher: &rules{}}, true
	}
	if picks := newPicker(kind, args); picks != nil {
		return &BindingTable{matcher: picks}, true
	}
	return nil, false
}

// Of returns r, which has no bindings yet, as the table of an exchange of that name: the name distinguishes copies made
// for its rules (filter.Action).
func (r *BindingTable) Of(exchange string) *BindingTable {
	if _, ruled := r.matcher.(*rules); !ruled {
		return r
	}
	c := *r
	c.matcher = &rules{exchange: exchange}
	return &c
}

// With returns r with the binding b to dest; false, and r itself, if it already exists. When dest is deleted its
// bindings must be removed (WithoutDestination), or they still lead to it.
func (r *BindingTable) With(b Binding, dest Target) (*BindingTable, bool) {
	id, n := b.identity()
	if _, found := r.bindings.get([]byte(id)); found {
		return r, false
	}
	e := &bound{Binding: b, target: dest, id: id, dest: id[:n], since: r.Number() + 1}
	c := *r
	c.bindings = r.bindings.with(id, e)
	c.matcher = r.matcher.with(e)
	return &c, true
}

// Without returns r without the binding b; false, and r itself, if it does not exist.
func (r *BindingTable) Without(b Binding) (*BindingTable, bool) {
	id, _ := b.identity()
	e, found := r.bindings.get([]byte(id))
	if !found {
		return r, false
	}
	c := *r
	c.drop(e)
	return &c, true
}

// WithoutDestination returns r without any binding to that queue, or exchange; r itself when there is none. O(log n)
// for each of them.
func (r *BindingTable) WithoutDestination(name string, toExchange bool) *BindingTable {
	removed := slices.Collect(r.bindings.under(destinationKey(name, toExchange)))
	if len(removed) == 0 {
		return r
	}
	c := *r
	for _, e := range removed {
		c.drop(e)
	}
	return &c
}

// WithMoved returns r with every binding to a queue of that name leading to q; r itself when there is none. O(log n)
// for each of them.
func (r *BindingTable) WithMoved(q *Queue) *BindingTable {
	c := *r
	moved := false
	for e := range r.bindings.under(destinationKey(q.Name, false)) {
		to := &bound{Binding: e.Binding, target: Target{Queue: q}, id: e.id, dest: e.dest, since: e.since}
		c.bindings = c.bindings.with(e.id, to)
		c.matcher = c.matcher.without(e).with(to)
		moved = true
	}
	if !moved {
		return r
	}
	return &c
}

// Has reports whether the binding b exists.
func (r *BindingTable) Has(b Binding) bool {
	id, _ := b.identity()
	_, found := r.bindings.get([]byte(id))
	return found
}

// Find returns the binding with the identity of b as it was made, and its target; zero values if it does not exist.
func (r *BindingTable) Find(b Binding) (Binding, Target) {
	id, _ := b.identity()
	if e, found := r.bindings.get([]byte(id)); found {
		return e.Binding, e.target
	}
	return Binding{}, Target{}
}

// drop removes a binding from a table that is not published yet.
func (r *BindingTable) drop(e *bound) {
	r.bindings, _ = r.bindings.without(e.id)
	r.matcher = r.matcher.without(e)
}

// WithAlternate returns r with another effective alternate exchange, "" for none.
func (r *BindingTable) WithAlternate(name string) *BindingTable {
	if name == r.Alternate {
		return r
	}
	c := *r
	c.Alternate, c.alternate = name, []byte(name)
	return &c
}

// WithMaxTTL returns r with another MaxTTL, in ms; negative for none.
func (r *BindingTable) WithMaxTTL(ms int64) *BindingTable {
	if r.Capped == (ms >= 0) && (!r.Capped || r.MaxTTL == ms) {
		return r
	}
	c := *r
	c.MaxTTL, c.Capped = max(ms, 0), ms >= 0
	return &c
}

// Bindings yields all bindings, grouped by destination.
func (r *BindingTable) Bindings() iter.Seq[Binding] { return r.bindingsUnder("") }

// BindingsTo yields the bindings to one queue, or exchange.
func (r *BindingTable) BindingsTo(name string, toExchange bool) iter.Seq[Binding] {
	return r.bindingsUnder(destinationKey(name, toExchange))
}

func (r *BindingTable) bindingsUnder(prefix string) iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		for e := range r.bindings.under(prefix) {
			if !yield(e.Binding) {
				return
			}
		}
	}
}

// Len returns the number of bindings.
func (r *BindingTable) Len() int { return r.bindings.len() }

// wordMemory is the size of a node for a word of a topic exchange's binding key.
const wordMemory = 150

// Memory returns the approximate size of the binding's names, key and arguments, in bytes.
func (b Binding) Memory() int64 {
	bytes := int64(len(b.Destination)+2*len(b.RoutingKey)+wordMemory*strings.Count(b.RoutingKey, ".")) + b.Arguments.Memory()
	if len(b.Arguments) > 0 {
		bytes += filter.Memory(b.RoutingKey, b.Arguments)
	}
	return bytes
}

// Same reports whether both are the same binding.
func (b Binding) Same(other Binding) bool {
	one, _ := b.identity()
	two, _ := other.identity()
	return one == two
}

// identity encodes the identity of a binding; its first n bytes are the key of the destination.
func (b Binding) identity() (id string, n int) {
	buf := appendDestinationKey(nil, b.Destination, b.ToExchange)
	n = len(buf)
	buf = canonical.Text(buf, b.RoutingKey)
	for _, f := range sortedFields(b.Arguments) {
		buf = canonical.Append(canonical.Text(buf, f.Key), f.Value)
	}
	return string(buf), n
}

// destinationKey identifies a destination in its vhost. None is a prefix of another one.
func destinationKey(name string, exchange bool) string {
	return string(appendDestinationKey(nil, name, exchange))
}

func appendDestinationKey(dst []byte, name string, exchange bool) []byte {
	kind := byte('q')
	if exchange {
		kind = 'x'
	}
	return canonical.Text(append(dst, kind), name)
}

// sortedFields returns the fields in the order of their keys, equal keys in the order of the table, which is not
// changed.
func sortedFields(t protocol.Table) []protocol.Field {
	sorted := slices.Clone([]protocol.Field(t))
	slices.SortStableFunc(sorted, func(a, b protocol.Field) int { return strings.Compare(a.Key, b.Key) })
	return sorted
}
