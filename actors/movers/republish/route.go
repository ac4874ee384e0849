package republish

import (
	"runtime/debug"
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/routefinder"
	"candlemark/internal/routing/topology"
	"candlemark/internal/routing/topology/timeheaders"
)

// router routes messages one at a time.
type router struct {
	routefinder.Finder // remembers the last route in this turn
	last               stamped
	moved              moved
	divided            divided
}

// route adds the messages of b before end to the batches of their targets. The exchange is looked up for each batch,
// since a missing one may exist by the next batch (DL-13); an internal exchange is allowed (DL-14).
func (s *state) route(b *batch, end int) {
	dir := s.vhost.Directory()
	exchange := []byte(b.Exchange)
	x := dir.Exchange(exchange)
	if x == nil {
		b.found = nil
		for ; b.next < end; b.next++ {
			b.noTarget(b.Messages[b.next].Number, &b.stats.NoExchange)
		}
		return
	}
	var key []byte
	if b.HasKey {
		key = []byte(b.RoutingKey)
	}
	for b.next < end && b.waiting == nil && !b.held && s.steps < topology.TurnSteps {
		b.next++
		s.routeOne(b, b.next-1, dir, x, exchange, key)
	}
	s.router.Forget()
}

// prepare makes a message what its targets get: it is stamped, unless it is no dead letter. It returns false for a message that
// nobody gets.
func (s *state) prepare(b *batch, m *message.Message, exchange, key []byte) bool {
	switch {
	case b.Release:
		m.Overlay = m.Overlay.Released(timeheaders.DelayOf(m.Header)) // so that it is not delayed again (DLY-4)
	case b.Forward:
		s.moveOn(m)
	case b.Respond:
		return answer(m, b)
	case b.Replay:
	default:
		s.stamp(b, m)
		m.Exchange = exchange
		if b.HasKey {
			m.RoutingKey = key // otherwise all of its own keys (DL-15)
		}
	}
	return true
}

// routeOne prepares and routes one message.
func (s *state) routeOne(b *batch, i int, dir *topology.Directory, x *topology.Exchange, exchange, key []byte) {
	l, m := &b.pending[i], &b.Messages[i]
	l.batch, l.id, l.stored = b, m.Number, b.storedAs(i)
	defer s.drop(b, l)
	found, prepared := b.found, b.prepared
	b.found, b.prepared = nil, false
	if !prepared && !s.prepare(b, m, exchange, key) { // it has not waited for its route, or for permission to be copied
		s.forget(b, l.id)
		return
	}
	targets, histories, caps := s.targets(dir, x, b, m, found)
	if b.waiting != nil {
		b.next, b.prepared = i, true
		return
	}
	if len(targets) == 0 && (len(histories) == 0 || b.Guarantee == mail.AtLeastOnce) {
		b.noTarget(l.id, &b.stats.Unroutable)
		return
	}
	had := b.Taken[l.id]
	has := lookup(had)
	if (len(targets)+len(had) > 1 || len(targets) == 1 && targets[0].Action != nil) && !s.admit(b, l, m, targets, has, len(had)) {
		if b.held {
			b.next, b.prepared, b.found = i, true, found
		}
		return
	}
	if len(histories) > 0 {
		targets = slices.Concat(targets, histories)
	}
	if len(targets) > 1 { // one of its own copies may displace m
		s.copy = *m
		m, l.several = &s.copy, true
	}
	l.taken = slices.Clone(had)
	for i, q := range targets {
		if has != nil && has(mail.TargetOf(q)) {
			continue
		}
		if b.closesCycle(m, q) {
			b.stats.Cycles.Add(1)
			s.warnOfCycle(m.Overlay, q.Name)
			continue
		}
		s.targetBatches.add(q, m, l, capOf(caps, i))
	}
	if l.copies == 0 {
		if len(had) == 0 { // cycles only
			b.answering().Dropped++
		}
		b.done(l.id)
		return
	}
	if l.several {
		s.unanswered += l.copies
	}
	b.stats.Routed.Add(1)
}

// capOf returns the TTL limit of the exchanges on the route to target i; negative for none (TTL-9).
func capOf(caps []int64, i int) int64 {
	if caps == nil {
		return -1
	}
	return caps[i]
}

// targets returns the queues to which m is routed, the exchanges that keep it, and the TTL limits of both: the result
// of the search if m has waited for one. If the route exceeds a turn, b waits for it from now on.
func (s *state) targets(
	dir *topology.Directory, x *topology.Exchange, b *batch, m *message.Message, found *topology.LongRoute,
) (queues, histories []*topology.Queue, caps []int64) {
	if found != nil {
		if found.Err != nil && s.warnings.may(unroutable, s.now) {
			s.warnings.line(s.log, unroutable).Str("queue", b.Queue).Str("exchange", x.Name).Err(found.Err).Msg("a dead letter cannot be routed")
		}
		return found.Queues, found.Histories, found.Caps
	}
	if b.Respond {
		if q := s.vhost.Requester(m.RoutingKey); q != nil {
			return []*topology.Queue{q}, nil, nil
		}
	}
	queues = s.router.targets(dir, x, m)
	s.steps += s.router.Steps() + len(queues)
	if s.router.Over() {
		b.waiting = routefinder.Long(s.vhost, x, contentOf(m), m.RoutingKey, carbonCopies(m))
		s.out.search = append(s.out.search, b)
	}
	return queues, s.router.Histories(), s.router.Caps()
}

// targets returns the queues to which the keys of m lead (DL-15).
func (r *router) targets(dir *topology.Directory, x *topology.Exchange, m *message.Message) []*topology.Queue {
	more := carbonCopies(m)
	if len(more) == 0 && r.Remembers(m.RoutingKey) {
		return r.Queues()
	}
	return r.Find(dir, x, contentOf(m), m.RoutingKey, more)
}

func contentOf(m *message.Message) routefinder.Content {
	return routefinder.Content{Header: m.Header, Overlay: m.Overlay}
}

// carbonCopies returns the keys of m besides its own.
func carbonCopies(m *message.Message) (keys [][]byte) {
	if m.Overlay == nil {
		return nil
	}
	for _, more := range [2][]string{m.Overlay.CC, m.Overlay.BCC} {
		for _, key := range more {
			keys = append(keys, []byte(key))
		}
	}
	return keys
}

// drop is deferred around the routing of one message: if it panics, only this message is dropped.
func (s *state) drop(b *batch, l *pendingMessage) {
	reason := recover()
	if reason == nil {
		return
	}
	b.stats.Failed.Add(1)
	s.log.Error().Str("queue", b.Queue).Uint64("id", l.id).Interface("reason", reason).
		Bytes("stack", debug.Stack()).Msg("dead letter dropped: it made the dead-letter actor panic")
	if l.copies == 0 {
		b.answering().Dropped++
		b.done(l.id)
	}
}
