package deliveries

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// amendLimit is the number of messages amended in one step: each is rewritten as a whole.
const amendLimit = 64

// amends reports whether a settlement amends its messages and a later receiver can see it (LOCK-2).
func (d *Deliveries) amends(r *mail.SettleRange) bool {
	if o := r.Outcome; o == nil || len(o.Annotations)+len(o.Properties) == 0 {
		return false
	}
	switch r.How {
	case mail.Requeue, mail.Release, mail.Defer:
		return true
	case mail.Reject, mail.Discard, mail.ToDeadLetters:
		return d.Messages.ShouldDeadLetter(store.Rejected)
	case mail.Ack, mail.PutBack, mail.Leave:
	}
	return false
}

// numbered is a delivery and its number.
type numbered struct {
	number uint64
	consumers.ChannelDelivery
}

// settleRead settles deliveries that were removed from their channel, after reading their contents. Until then the
// channel holds them again.
func (d *Deliveries) settleRead(h *consumers.Holder, list []numbered, r mail.SettleRange, t *tally) {
	if len(list) == 0 {
		return
	}
	b := &d.Messages.Backlog
	want := make([]store.Ref, len(list))
	for i, x := range list {
		h.Unacked.Restore(x.number, x.ChannelDelivery)
		want[i] = store.Ref{Seq: b.Seq(x.Message), At: store.Position(b.Place(x.Message))}
	}
	var asked mail.Answerable
	if t != nil {
		t.open++
		asked = t.asked
	}
	d.Lookups.LookUp(asked, want, func(contents []store.Content, now clock.Instant) {
		for i, x := range list {
			one, c := r, &contents[i]
			one.First, one.Last = x.number, x.number
			if _, held := h.Unacked.Get(x.number); held && b.IsPaged(x.Message) && (c.Err != nil || !content.PageIn(b, x.Message, &c.Record)) {
				one.Outcome = &mail.Outcome{Until: r.Outcome.Until} // no content to amend
			}
			d.settleSome(h, []mail.SettleRange{one}, t, now)
		}
		t.done()
	})
}
