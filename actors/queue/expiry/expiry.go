package expiry

import (
	"cmp"
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/wheel"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/policies"
)

// Expiry is that of one queue. See New.
type Expiry struct {
	messages *backlog.Backlog
	settings *policies.QueueSettings
	quorum   bool
	sweep    backlog.Handle                // where one goes on, 0 for none
	wheel    wheel.Wheel[*backlog.Backlog] // of the ready messages with a deadline; in strict mode nobody waits for it
	left     uint32                        // how often messages have left the wheel, or have moved on it
	due      []backlog.Handle              // what the wheel fires, reused
	// Others are messages that are not ready and expire nevertheless; nil for none.
	Others Others
}

// Others has messages on a wheel of its own. Lift takes one of them off, so that its deadline can change, and reports whether
// it is one; Drop puts it back.
type Others interface {
	Lift(h backlog.Handle) bool
	Drop(h backlog.Handle)
}

// New is the expiry of messages by settings, which may change (Follow).
func New(messages *backlog.Backlog, settings *policies.QueueSettings, quorum bool) Expiry {
	return Expiry{messages: messages, settings: settings, quorum: quorum, wheel: wheel.New(messages)}
}

// Clear forgets all messages.
func (e *Expiry) Clear() {
	e.wheel, e.sweep, e.due = wheel.New(e.messages), 0, nil
	e.left++
}

// Len is how many messages are on the wheel.
func (e *Expiry) Len() int { return e.wheel.Len() }

// TTL is the lower of the message's own and the queue's, in ms; negative for none. On quorum queues 0 is 1 (TTL-23).
func (e *Expiry) TTL(own int64) int64 { return e.ttl(e.settings, own) }

func (e *Expiry) ttl(by *policies.QueueSettings, own int64) int64 {
	if q := by.MessageTTL; q >= 0 && (own < 0 || q < own) {
		own = q
	}
	if own == 0 && e.quorum {
		return 1
	}
	return own
}

// Retimed is the deadline that a message, ready or not, would have if settings took the place of the present ones.
func (e *Expiry) Retimed(h backlog.Handle, by *policies.QueueSettings) int64 {
	if !by.RetroactiveTTL || !by.Retimes(e.settings) {
		return e.messages.Deadline(h)
	}
	enqueued, own := e.messages.Times(h)
	return store.After(enqueued, e.ttl(by, own))
}

// Deadline is that of a message with a TTL of its own that comes now, in wall ms. It is fixed at the instant of enqueue
// (TTL-9): rounded up, so that it is never early, except that a TTL of 0 is due at once.
func (e *Expiry) Deadline(own int64, now clock.Instant) int64 {
	if own = e.TTL(own); own == 0 {
		return now.Floor()
	}
	return store.After(now.Ceil(), own)
}

// Add has a ready message expire at its deadline.
func (e *Expiry) Add(h backlog.Handle) { e.wheel.Add(h) }

// Remove is called before a message is not ready any more.
func (e *Expiry) Remove(h backlog.Handle) {
	e.wheel.Remove(h)
	e.left++
}

// Next is when Advance is to be called, in wall ms.
func (e *Expiry) Next() (int64, bool) {
	if !e.settings.StrictExpiry {
		return e.wheel.Next()
	}
	h, ok := e.messages.First()
	if !ok || e.messages.Deadline(h) == store.Never {
		return 0, false
	}
	return e.messages.Deadline(h), true
}

// Advance calls end for the messages past their deadline, wherever they stand (TTL-30), about limit at a time (TTL-33); end
// makes them ready no more. It reports whether there may be more.
func (e *Expiry) Advance(now clock.Instant, limit int, end func(backlog.Handle)) (more bool) {
	if e.settings.StrictExpiry {
		_, _, more = e.First(now, limit, end)
		return more
	}
	e.left++
	more = e.wheel.Advance(now.Floor(), limit, func(h uint32) { e.due = append(e.due, h) })
	if len(e.due) == 0 {
		return more
	}
	e.sortDue()
	for _, h := range e.due {
		end(h)
	}
	if e.due = e.due[:0]; cap(e.due) > 64 {
		e.due = nil
	}
	return more
}

// sortDue restores queue order among equal deadlines (TTL-31): a message that came back is on the wheel behind those that
// stayed. Mostly there is nothing to do.
func (e *Expiry) sortDue() {
	order := func(a, b backlog.Handle) int {
		x, y := e.messages.Entry(a), e.messages.Entry(b)
		if x.Deadline != y.Deadline {
			return cmp.Compare(x.Deadline, y.Deadline)
		}
		return cmp.Compare(x.Seq, y.Seq)
	}
	if !slices.IsSortedFunc(e.due, order) {
		slices.SortFunc(e.due, order)
	}
}

// First is the first ready message that is not past its deadline; ok says that there is one. For those before it, at most
// limit, it calls end, as Advance does; more says that there were too many. In strict mode messages expire only so: when
// they are the first of the highest priority that has any (TTL-18, TTL-19).
func (e *Expiry) First(now clock.Instant, limit int, end func(backlog.Handle)) (h backlog.Handle, ok, more bool) {
	for range limit {
		h, ok := e.messages.First()
		if !ok {
			return 0, false, false
		}
		if e.messages.Deadline(h) > now.Floor() {
			return h, true, false
		}
		e.Remove(h)
		end(h)
	}
	return 0, false, true
}

// Follow begins a sweep over the messages if the settings before, which were others, count for them no longer: their
// deadlines change (TTL-25).
func (e *Expiry) Follow(before *policies.QueueSettings) {
	if e.settings.Retimes(before) {
		e.sweep = 1
	}
}

// Recompute goes on with a sweep, with about limit messages at a time. It reports whether there are more.
func (e *Expiry) Recompute(limit int) (more bool) {
	if e.sweep == 0 {
		return false
	}
	e.sweep = e.messages.Sweep(e.sweep, limit, func(h backlog.Handle) {
		ready := e.messages.IsReady(h)
		if ready {
			e.Remove(h)
		}
		other := !ready && e.Others != nil && e.Others.Lift(h)
		if e.settings.RetroactiveTTL {
			enqueued, own := e.messages.Times(h)
			e.messages.Entry(h).Deadline = store.After(enqueued, e.TTL(own))
		}
		if ready {
			e.Add(h)
		}
		if other {
			e.Others.Drop(h)
		}
	})
	return e.sweep != 0
}
