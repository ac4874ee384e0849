package expiry

import (
	"cmp"
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/wheel"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// Expiry is the expiry of one queue's messages. See New.
type Expiry struct {
	messages *backlog.Backlog
	settings *policies.QueueSettings
	quorum   bool
	sweep    backlog.Handle                // where the sweep continues, 0 for none
	wheel    wheel.Wheel[*backlog.Backlog] // ready messages with a deadline; not used for expiry in strict mode
	left     uint32                        // how often messages have left the wheel or moved on it
	due      []backlog.Handle              // fired by the wheel, reused
	// Others has the messages that expire although they are not ready; nil for none.
	Others Others
}

// Others has messages on a wheel of its own. Detach takes a message off it so that its deadline can be changed, and
// reports whether it was on it; Reattach puts it back.
type Others interface {
	Detach(h backlog.Handle) bool
	Reattach(h backlog.Handle)
}

// New returns the expiry of messages by settings, which may change (Follow).
func New(messages *backlog.Backlog, settings *policies.QueueSettings, quorum bool) Expiry {
	return Expiry{messages: messages, settings: settings, quorum: quorum, wheel: wheel.New(messages)}
}

// Clear removes all messages.
func (e *Expiry) Clear() {
	e.wheel, e.sweep, e.due = wheel.New(e.messages), 0, nil
	e.left++
}

// Len returns the number of messages on the wheel.
func (e *Expiry) Len() int { return e.wheel.Len() }

// TTL returns the lower of the message's own TTL and the queue's, in ms; negative for none. On quorum queues 0 counts
// as 1 (TTL-23).
func (e *Expiry) TTL(own int64) int64 { return e.Lower(e.settings.MessageTTL, own) }

// Lower is TTL for another TTL of the queue, negative for none.
func (e *Expiry) Lower(ttl, own int64) int64 {
	if ttl >= 0 && (own < 0 || ttl < own) {
		own = ttl
	}
	if own == 0 && e.quorum {
		return 1
	}
	return own
}

// By returns the deadline of a message, ready or not, under the given settings: they alone decide whether it is the one
// fixed at its entry (TTL-24) or counted anew (TTL-25).
func (e *Expiry) By(by *policies.QueueSettings, h backlog.Handle) int64 {
	if !by.RetroactiveTTL {
		return backlog.Entered(e.messages, h)
	}
	enqueued, own := e.messages.Times(h)
	return store.After(enqueued, e.Lower(by.MessageTTL, own))
}

// Present returns the deadline of a message under the present settings. It changes nothing.
func (e *Expiry) Present(h backlog.Handle) int64 {
	if e.sweep == 0 {
		return e.messages.Deadline(h)
	}
	return e.By(e.settings, h)
}

// Retime is Present, and moves the message to that deadline if a sweep has not reached it yet. All code that depends on
// the deadline calls Retime, so that no message expires by settings no longer in force.
func (e *Expiry) Retime(h backlog.Handle) int64 {
	if e.sweep != 0 {
		e.Apply(h)
	}
	return e.messages.Deadline(h)
}

// Apply moves a message to its deadline under the present settings.
func (e *Expiry) Apply(h backlog.Handle) {
	to := e.By(e.settings, h)
	if to == e.messages.Deadline(h) {
		return
	}
	ready := e.messages.IsReady(h)
	if ready {
		e.Remove(h)
	}
	other := !ready && e.Others != nil && e.Others.Detach(h)
	backlog.Retime(e.messages, h, to)
	if ready {
		e.Add(h)
	}
	if other {
		e.Others.Reattach(h)
	}
}

// Deadline returns the deadline, in wall ms, of a message with its own TTL that arrives now. It is fixed when the
// message is enqueued (TTL-9) and rounded up, so that no message expires early; with a TTL of 0 it is due at once.
func (e *Expiry) Deadline(own int64, now clock.Instant) int64 {
	if own = e.TTL(own); own == 0 {
		return now.Floor()
	}
	return store.After(now.Ceil(), own)
}

// Add adds a ready message with a deadline.
func (e *Expiry) Add(h backlog.Handle) { e.wheel.Add(h) }

// Remove has to be called before a message stops being ready.
func (e *Expiry) Remove(h backlog.Handle) {
	e.wheel.Remove(h)
	e.left++
}

// Next returns when Advance has to be called, in wall ms.
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

// Advance calls end for the messages past their deadline, at any position (TTL-30), about limit at a time (TTL-33);
// end must make them not ready. It reports whether others may be left.
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
	if e.sweep != 0 {
		e.due = slices.DeleteFunc(e.due, func(h backlog.Handle) bool { return !e.still(h, now) })
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

// still reports whether a message that the wheel has fired is due under the present settings. Otherwise it is on the
// wheel again.
func (e *Expiry) still(h backlog.Handle, now clock.Instant) bool {
	if e.Retime(h) <= now.Floor() {
		e.wheel.Remove(h)
		return true
	}
	e.wheel.Add(h)
	return false
}

// sortDue restores queue order among equal deadlines (TTL-31): on the wheel, a requeued message follows messages that
// stayed. Usually the order is already right.
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

// First returns the first ready message that is not past its deadline; ok is false if there is none. It calls end, as
// Advance does, for at most limit messages before it; more reports whether there were more than that. In strict mode
// messages expire only here, when they are the first of the highest priority present (TTL-18, TTL-19).
func (e *Expiry) First(now clock.Instant, limit int, end func(backlog.Handle)) (h backlog.Handle, ok, more bool) {
	for range limit {
		h, ok := e.messages.First()
		if !ok {
			return 0, false, false
		}
		if e.Retime(h) > now.Floor() {
			return h, true, false
		}
		e.Remove(h)
		end(h)
	}
	return 0, false, true
}

// Follow starts a sweep over the messages if a change of settings changes their deadlines (TTL-25). before holds the
// previous settings.
func (e *Expiry) Follow(before *policies.QueueSettings) {
	if e.settings.Retimes(before) {
		e.sweep = 1
	}
}

// Recompute continues a sweep, about limit messages at a time. It reports whether more are left.
func (e *Expiry) Recompute(limit int) (more bool) {
	if e.sweep == 0 {
		return false
	}
	e.sweep = e.messages.Sweep(e.sweep, limit, e.Apply)
	return e.sweep != 0
}
