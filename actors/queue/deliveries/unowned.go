package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// unowned is a delivery that no channel holds but that is still locked.
type unowned struct {
	lock    uint64
	timeout int64 // the consumer's, ms, -1 for none
}

// keepLockWithoutOwner keeps a delivery that was removed from its channel locked, without an owner, until its lock ends (LOCK-10). It
// returns false, and keeps nothing, if the delivery has no lock of its own that outlives its link.
func (d *Deliveries) keepLockWithoutOwner(u *consumers.Unsettled, now clock.Instant) bool {
	until, c := d.until(u.Message), u.Consumer
	received := c == nil && d.deferred(u.Message)
	switch {
	case !received && (c == nil || !c.WantsFacts || c.Session) || until == 0:
		return false
	case until <= now.Floor(): // the timer is late
		d.Messages.Counts.TimedOut++
		return false
	}
	kept := unowned{u.Lock(), -1}
	if c != nil {
		kept.timeout = c.Timeout
	}
	d.release(u.ChannelDelivery)
	if d.unowned == nil {
		d.unowned = map[backlog.Handle]unowned{}
	}
	d.unowned[u.Message] = kept
	h := d.Consumers.Unowned()
	number := d.Consumers.Hold(h, consumers.ChannelDelivery{Message: u.Message, Since: u.Since})
	d.Timeouts.Start(u.Message, h, number, until, now.Floor())
	return true
}

// forgetUnowned forgets the lock of a message without an owner.
func (d *Deliveries) forgetUnowned(message backlog.Handle) {
	if _, is := d.unowned[message]; !is {
		return
	}
	if delete(d.unowned, message); len(d.unowned) == 0 {
		d.unowned = nil // a map does not shrink
		d.Consumers.CloseUnowned()
	}
}

// defaultLock is how long a message is locked for a client of Azure Service Bus if nothing else is set, in ms.
const defaultLock = 60_000

// lockTime returns how long a delivery to a consumer is locked, by the current settings, in ms: the consumer's timeout, or
// the queue's if the consumer has none, -1 for none. Only clients of Azure Service Bus receive deferred messages, and
// they rely on the end of a lock (LOCK-11).
func (d *Deliveries) lockTime(message backlog.Handle, c *consumers.Consumer) int64 {
	own, entity := int64(-1), false
	if kept, is := d.unowned[message]; is {
		own, entity = kept.timeout, true
	} else if c != nil {
		own, entity = c.Timeout, c.KeepsOnTimeout
	} else {
		entity = d.deferred(message)
	}
	timeout := policies.Timeout(own, d.Messages.Settings.ConsumerTimeout)
	switch lock := d.Messages.Settings.DeadLetterLock; {
	case timeout >= 0 || !entity:
		return timeout
	case lock > 0:
		return lock
	}
	return defaultLock
}

// deferred reports whether a message without a consumer was received by its number.
func (d *Deliveries) deferred(message backlog.Handle) bool {
	return d.Messages.Backlog.Entry(message).Marks&backlog.Deferred != 0
}
