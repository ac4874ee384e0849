package deliveries

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// An unacked message whose delivery ends, and that stays in the queue, is ready again, or deferred.

// requeue returns an unacked message to its original position with its original deadline; if that has passed it expires
// at once (TTL-16, TTL-22). Its delivery has failed, which counts (DL-9). It is not delivered again before until, in wall ms of the
// broker; 0 selects the delay of the queue's settings (RETRY-1).
func (d *Deliveries) requeue(h backlog.Handle, until int64, now clock.Instant) {
	if d.counted(h, now) {
		d.requeueAfter(h, until, true, now)
	}
}

// counted counts a delivery of an unacked message. It returns false if that was one too many, with which the message has ended.
func (d *Deliveries) counted(h backlog.Handle, now clock.Instant) bool {
	e := d.Messages.Backlog.Entry(h)
	e.Redelivered = true
	if e.Returns.Fail() {
		d.Messages.Journal.Note(store.Returned, e)
	}
	if limit := d.Messages.Settings.DeliveryLimit; limit >= 0 && int64(e.Returns.Failed()) > limit && d.Messages.Expiry.Retime(h) > now.Floor() { // DL-9
		d.Messages.End(h, store.Exceeded)
		return false
	}
	return true
}

// requeueUncounted does the same as requeue for a delivery that has not failed and does not count (DL-9, LOCK-2).
func (d *Deliveries) requeueUncounted(h backlog.Handle, until int64, now clock.Instant) {
	if e := d.Messages.Backlog.Entry(h); e.Returns.GiveBack() {
		d.Messages.Journal.Note(store.GivenBack, e)
	}
	d.requeueAfter(h, until, false, now)
}

func (d *Deliveries) requeueAfter(h backlog.Handle, until int64, failed bool, now clock.Instant) {
	e := d.Messages.Backlog.Entry(h)
	e.Redelivered = true
	if e.Marks&backlog.Deferred == 0 { // deferred messages wait for a consumer
		if delay := d.Messages.Settings.Retry.Delay(failed, e.Returns.Failed(), e.Returns.All()-e.Returns.Failed(), e.Seq); delay > 0 && until <= now.Floor() {
			until = store.After(now.Ceil(), delay)
		}
		if until > now.Floor() && d.Messages.Expiry.Retime(h) > now.Floor() {
			d.makeReadyAt(h, until)
			return
		}
	}
	d.Messages.Unclaim(h, now)
}

// makeReadyAt makes an unacked message deferred until a time (RETRY-1).
func (d *Deliveries) makeReadyAt(h backlog.Handle, until int64) {
	e := d.Messages.Backlog.Entry(h)
	e.Marks |= backlog.Deferred
	d.Messages.Journal.Postpone(e, until)
	d.Messages.MakeReady(h)
	d.Messages.Deferred.Postpone(h, until)
}

// putAside makes an unacked message deferred, which counts as a delivery (DEFER-1), or expires it if it is past its deadline.
func (d *Deliveries) putAside(h backlog.Handle, now clock.Instant) {
	if !d.counted(h, now) {
		return
	}
	e := d.Messages.Backlog.Entry(h)
	e.Marks |= backlog.Deferred
	d.Messages.Journal.Note(store.Deferred, e)
	d.Messages.Unclaim(h, now)
}

// takeDeferred takes a deferred message for a consumer. It is no longer postponed, even after a restart.
func (d *Deliveries) takeDeferred(h backlog.Handle) {
	if _, ok := d.Messages.Deferred.Until(h); ok {
		d.Messages.Journal.Postpone(d.Messages.Backlog.Entry(h), 1)
	}
	d.Messages.Deferred.Take(h)
}

// amend adds to the overlay of a message, whose content must be in memory (LOCK-2).
func (d *Deliveries) amend(h backlog.Handle, annotations, properties protocol.Table) {
	var r backlog.Record
	d.Messages.Backlog.Get(h, &r)
	if o := r.Overlay.Amended(annotations, properties); o != r.Overlay {
		d.Messages.Backlog.SetOverlay(h, o)
		d.Messages.Journal.PutAgain(&d.Messages.Backlog, h)
	}
}
