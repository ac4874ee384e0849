package queries

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"candlemark/internal/admin/management"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// The bounds of a Flow: edges in all, steps of the search, and keys shown per edge.
const (
	flowEdges = 5 * management.FlowNodes
	flowSteps = 1_000_000 // bindings examined, and each 8 bytes of their keys
	flowKeys  = 3         // shown per edge
)

// Flow implements management.Topology. It asks the registry for policies, and no queue. Like previews, only one is made
// at a time.
func (qs *Queries) Flow(ctx context.Context, vhost, name string) (management.Flow, error) {
	leave, err := qs.Policies.previewing.take(ctx)
	if err != nil {
		return management.Flow{}, err
	}
	defer leave()
	v, ok := qs.cfg.VHosts.Find(vhost)
	if !ok {
		return management.Flow{}, protocol.ChannelErrorf(protocol.NotFound, "vhost '%s' not found", vhost)
	}
	known, err := qs.Policies.policies(ctx, vhost)
	if err != nil {
		return management.Flow{}, err
	}
	f := &flow{d: v.Directory(), set: known.Set, nodes: map[flowName]int{}, edges: map[flowWay]int{}, seen: map[flowStep]bool{}, bound: map[flowBinding]bool{}}
	for q := range f.d.Queues() {
		if ctx.Err() != nil {
			return management.Flow{}, ctx.Err()
		}
		if s := f.settings(q); forwards(&s) && leadsTo(q.Name, &s, strings.ToLower(name)) {
			f.Sources++
			f.node(flowName{q.Name, false})
			f.follow()
		}
	}
	return f.Flow, nil
}

func forwards(s *policies.QueueSettings) bool { return s.HasDLX || s.HasForward }

// leadsTo reports whether part, in lower case, occurs in the name of a queue or of a direct target of its settings.
func leadsTo(queue string, s *policies.QueueSettings, part string) bool {
	names := []string{queue}
	if s.HasDLX {
		names = append(names, s.DeadLetterExchange, s.DeadLetterRoutingKey)
	}
	if s.HasForward {
		names = append(names, s.ForwardTo)
	}
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(strings.ToLower(n), part) })
}

type (
	flowName struct {
		name     string
		exchange bool
	}
	flowWay struct {
		from, to int
		kind     management.FlowKind
	}
	// flowStep is a message that arrives at an exchange, with a known key or any key.
	flowStep struct {
		exchange int
		key      string
		known    bool
	}
	flowBinding struct {
		edge int
		key  string
	}
)

// flow makes a management.Flow.
type flow struct {
	management.Flow
	d     *topology.Directory
	set   *policies.Policies
	nodes map[flowName]int
	edges map[flowWay]int
	seen  map[flowStep]bool
	bound map[flowBinding]bool
	steps []flowStep // not followed yet
	// followed is the number of nodes followed, and cost the number of steps taken.
	followed, cost int
}

func (f *flow) settings(q *topology.Queue) policies.QueueSettings {
	o := policies.QueueObject(q.Name, q.Arguments)
	return policies.SettingsFor(q.Arguments, f.set.EffectiveFor(&o)).Routed(q.Name)
}

// node returns the index of a node, which it adds if there is room; ok is false if not.
func (f *flow) node(n flowName) (at int, ok bool) {
	if at, ok = f.nodes[n]; ok {
		return at, true
	}
	if len(f.Nodes) == management.FlowNodes {
		f.Truncated = true
		return 0, false
	}
	node := management.FlowNode{Exchange: n.exchange, Name: n.name}
	if n.exchange {
		if x := f.d.Exchange([]byte(n.name)); x != nil {
			node.Type = cmp.Or(x.Type, "direct") // the default exchange routes by key
		}
	} else if q := f.d.Queue([]byte(n.name)); q != nil {
		node.Type = q.Type
	}
	f.nodes[n] = len(f.Nodes)
	f.Nodes = append(f.Nodes, node)
	return f.nodes[n], true
}

// edge returns an edge, which it adds if there is room; nil if not.
func (f *flow) edge(from int, to flowName, kind management.FlowKind) *management.FlowEdge {
	at, ok := f.node(to)
	if !ok {
		return nil
	}
	way := flowWay{from, at, kind}
	if i, ok := f.edges[way]; ok {
		return &f.Edges[i]
	}
	if len(f.Edges) == flowEdges {
		f.Truncated = true
		return nil
	}
	f.edges[way] = len(f.Edges)
	f.Edges = append(f.Edges, management.FlowEdge{From: from, To: at, Kind: kind})
	return &f.Edges[len(f.Edges)-1]
}

// follow follows all nodes and adds their targets.
func (f *flow) follow() {
	for ; f.followed < len(f.Nodes); f.followed++ {
		if n := f.Nodes[f.followed]; !n.Exchange && n.Type != "" {
			f.queue(f.followed, f.d.Queue([]byte(n.Name)))
		}
		for len(f.steps) > 0 {
			next := f.steps[0]
			f.steps = f.steps[1:]
			f.exchange(next)
		}
	}
}

func (f *flow) queue(at int, q *topology.Queue) {
	if q == nil {
		return
	}
	s := f.settings(q)
	counts := q.Sent.Counts()
	forwarded := map[string]uint64{}
	if n := counts["forwarded"]; n > 0 {
		forwarded["forwarded"] = n
		delete(counts, "forwarded")
	}
	if s.HasDLX {
		f.send(at, s.DeadLetterExchange, s.DeadLetterRoutingKey, s.HasDLK, management.FlowDeadLetter, counts)
	}
	if s.HasForward {
		f.send(at, s.ForwardTo, "", false, management.FlowForward, forwarded)
	}
}

// send adds the edge from a queue: to an exchange or, through the default exchange with a known key, to a queue.
func (f *flow) send(from int, exchange, key string, known bool, kind management.FlowKind, counts map[string]uint64) {
	to := flowName{exchange, true}
	if exchange == "" && known {
		to = flowName{key, false}
	}
	e := f.edge(from, to, kind)
	if e == nil {
		return
	}
	e.Key, e.HasKey, e.Counts = key, known, counts
	x := f.d.Exchange([]byte(exchange))
	if !to.exchange || x == nil || x.Name == "" {
		return
	}
	e.Unroutable = known && x.Routes().Alternate == "" && !f.matches(x, key)
	f.visit(flowStep{f.nodes[to], key, known})
}

// visit adds a message that arrives at an exchange.
func (f *flow) visit(s flowStep) {
	if any := (flowStep{s.exchange, "", false}); !f.seen[any] && !f.seen[s] {
		f.seen[s] = true
		f.steps = append(f.steps, s)
	}
}

// spend reports whether another binding may be examined.
func (f *flow) spend(b topology.Binding) bool {
	f.cost += 1 + len(b.RoutingKey)/8
	f.Truncated = f.Truncated || f.cost > flowSteps
	return f.cost <= flowSteps
}

// matches reports whether any binding of an exchange matches a key.
func (f *flow) matches(x *topology.Exchange, key string) bool {
	for b := range x.Routes().Bindings() {
		if !f.spend(b) {
			return true // unknown
		}
		if matchesKey(x.RoutingType(), b.RoutingKey, key) {
			return true
		}
	}
	return false
}

// exchange adds the bindings of an exchange that match a message, or its alternate exchange if there are none.
func (f *flow) exchange(s flowStep) {
	x := f.d.Exchange([]byte(f.Nodes[s.exchange].Name))
	if x == nil || x.Name == "" {
		return
	}
	matched := false
	for b := range x.Routes().Bindings() {
		if !f.spend(b) {
			return
		}
		if s.known && !matchesKey(x.RoutingType(), b.RoutingKey, s.key) {
			continue
		}
		matched = true
		e := f.edge(s.exchange, flowName{b.Destination, b.ToExchange}, management.FlowBinding)
		if e == nil {
			continue
		}
		if id := (flowBinding{f.edges[flowWay{e.From, e.To, e.Kind}], b.RoutingKey}); !f.bound[id] {
			f.bound[id] = true
			if e.Bindings++; len(e.Keys) < flowKeys {
				e.Keys = append(e.Keys, b.RoutingKey)
			}
		}
		if b.ToExchange {
			f.visit(flowStep{e.To, s.key, s.known})
		}
	}
	if to := x.Routes().Alternate; to != "" && (!matched || !s.known) {
		if e := f.edge(s.exchange, flowName{to, true}, management.FlowAlternate); e != nil {
			f.visit(flowStep{e.To, s.key, s.known})
		}
	}
}

// matchesKey reports whether a binding of an exchange of that type matches a message, judged only by its key.
func matchesKey(kind, binding, key string) bool {
	switch kind {
	case "direct":
		return binding == key
	case "topic":
		return topicTakes(strings.Split(binding, "."), strings.Split(key, "."))
	}
	return true
}

func topicTakes(pattern, words []string) bool {
	taken := make([]bool, len(words)+1) // taken[n]: the pattern up to here matches the first n words
	taken[0] = true
	for _, p := range pattern {
		if p == "#" {
			for n := range words {
				taken[n+1] = taken[n+1] || taken[n]
			}
			continue
		}
		for n := len(words); n > 0; n-- {
			taken[n] = taken[n-1] && (p == "*" || p == words[n-1])
		}
		taken[0] = false
	}
	return taken[len(words)]
}
