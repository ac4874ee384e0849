package topology

// direct matches binding keys that equal the routing key. [AMQP 3.1.3.1]
type direct struct {
	keys tree[destinations]
}

func (m *direct) with(b *bound) matcher {
	set, _ := m.keys.get([]byte(b.RoutingKey))
	return &direct{keys: m.keys.with(b.RoutingKey, withDestination(set, b))}
}

func (m *direct) without(b *bound) matcher {
	set, _ := m.keys.get([]byte(b.RoutingKey))
	if set = withoutDestination(set, b); set.len() > 0 {
		return &direct{keys: m.keys.with(b.RoutingKey, set)}
	}
	keys, _ := m.keys.without(b.RoutingKey)
	return &direct{keys: keys}
}

func (m *direct) match(r *Router) {
	if !r.compare(len(r.keys)) {
		return
	}
	for _, key := range r.keys {
		if set, found := m.keys.get(key); found {
			r.collect(&set)
		}
	}
}

func (m *direct) loads() []load { return nil }

// fanout matches every publish. [AMQP 3.1.3.2]
type fanout struct {
	all destinations
}

func (m *fanout) with(b *bound) matcher    { return &fanout{all: withDestination(m.all, b)} }
func (m *fanout) without(b *bound) matcher { return &fanout{all: withoutDestination(m.all, b)} }
func (m *fanout) match(r *Router)          { r.collect(&m.all) }
func (m *fanout) loads() []load            { return nil }
