package vhost

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// queueNamed finds a queue that clients may name: not the holder of a delayed
// exchange.
func (v *vhost) queueNamed(name string) *queue {
	if q := v.queues[name]; q != nil && q.holdsFor == nil {
		return q
	}
	return nil
}

// queueCount is how many queues clients have made.
func (v *vhost) queueCount() int {
	n := len(v.queues)
	for _, x := range v.exchanges {
		if q := x.holder; q != nil && v.queues[q.queue.Name] == q {
			n--
		}
	}
	return n
}

// checkType is DLY-1, and DEC-14 for types that nobody knows.
func checkType(d *mail.DeclareExchange) error {
	kind := d.Type
	if kind == topology.DelayedType {
		v, _ := d.Arguments.Get(topology.DelayedArgument)
		name, isText := v.(string)
		switch {
		case !isText:
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "Invalid argument, 'x-delayed-type' must be an existing exchange type")
		case name == topology.DelayedType:
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "Invalid argument, 'x-delayed-message' can't be used for 'x-delayed-type'")
		}
		kind = name
	}
	if _, known := topology.NewRoutes(kind); !known {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "unknown exchange type '%s'", kind)
	}
	return nil
}

// newHolder gives a delayed exchange the queue that holds its messages; it lives
// as long as the exchange and survives what that survives (DLY-5).
func (v *vhost) newHolder(x *exchange) {
	if x.exchange.Delayed() {
		v.holdFor(x, &queue{queue: &topology.Queue{
			Name: topology.HolderName(x.exchange.Name), Incarnation: v.incarnate(), Type: topology.HolderType, Durable: x.exchange.Durable,
		}})
	}
}

func (v *vhost) holdFor(x *exchange, q *queue) {
	q.kind, q.holdsFor, x.holder = policies.KindOf(nil), x, q
}

// exchangesStored are the definitions of an exchange: with its holder, so that there is
// never one without the other.
func (v *vhost) exchangesStored(x *exchange) []any {
	all := []any{v.exchangeStored(x.exchange)}
	if x.holder != nil && x.exchange.Durable {
		all = append(all, v.queueStored(x.holder.queue))
	}
	return all
}

// settings returns the settings of a queue. A holder gives what is due to its exchange,
// whose policies say how fast.
func (v *vhost) settings(q *queue) (policies.Effective, policies.QueueSettings) {
	if q.holdsFor == nil {
		effective := v.match(&q.name, q.kind, q.queue.Name, q.notBy()...)
		return effective, v.settingsOf(q, effective)
	}
	x := q.holdsFor.exchange
	s := policies.HolderSettingsFor(x.Arguments, v.policies.Effective(policies.KindExchange, x.Name))
	s.HasDLX, s.DeadLetterExchange = true, x.Name
	return policies.Effective{}, s
}

// configureHolder tells the holder of a delayed exchange of a policy change.
func (v *vhost) configureHolder(q *queue) {
	if q == nil || q.phase == forgetting || q.phase == down || v.child(q) == nil {
		return
	}
	effective, settings := v.settings(q)
	v.ctx.Send(q.queue.PID, &mail.Configure{Effective: effective, Settings: settings})
}

// show publishes a queue, or tells its exchange of a holder.
func (v *vhost) show(q *queue) {
	if q.holdsFor == nil {
		v.publish(v.directory.WithQueue(q.queue))
		return
	}
	q.holdsFor.exchange.SetHolder(q.queue)
	v.cfg.VHost.Bump()
}

// dropHolder ends the holder of an exchange that is gone, with all that is in it
// (DLY-5).
func (v *vhost) dropHolder(x *exchange, done func()) {
	q := x.holder
	if q == nil || v.queues[q.queue.Name] != q {
		done()
		return
	}
	q.gone = append(q.gone, done)
	v.deleteWithVHost(q, mail.Request{ReplyTo: v.ctx.Self()})
}

// holderDropped says how many messages went with a delayed exchange.
func (v *vhost) holderDropped(m *mail.DeleteQueueReply) {
	if m.MessageCount > 0 {
		v.cfg.Log.Warn().Str("exchange", topology.HeldFor(m.Queue)).Int("messages", m.MessageCount).
			Msg("a delayed exchange was deleted with messages that were not due yet")
	}
}

// recoverHolders finds the exchanges of the stored holders. One without the
// other is left by an exchange that ended by itself.
func (v *vhost) recoverHolders() {
	r, found := v.recovery, map[*exchange]bool{}
	r.Queues = slices.DeleteFunc(r.Queues, func(d definitions.Queue) bool {
		if d.Type != topology.HolderType {
			return false
		}
		if x := v.exchanges[topology.HeldFor(d.Name)]; x != nil && x.exchange.Delayed() {
			found[x] = true
			return false
		}
		v.cfg.Log.Error().Str("queue", d.Name).Msg("stored messages have lost their delayed exchange; they are dropped")
		v.store(definitions.Change{Delete: []any{d}}, nil, v.forgotten)
		if v.cfg.Retire != nil {
			v.cfg.Retire(store.QueueID(d.Incarnation))
		}
		return true
	})
	for _, x := range v.exchanges {
		if x.exchange.Delayed() && !found[x] {
			v.newHolder(x)
			x.holder.phase = coming
			v.store(definitions.Change{Put: []any{v.queueStored(x.holder.queue)}}, nil, func(err error) {
				if err != nil {
					_ = v.notStored(err)
				}
			})
			v.startQueue(x.holder, nil, true)
		}
	}
}
