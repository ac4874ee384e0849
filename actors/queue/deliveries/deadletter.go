package deliveries

import (
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// refusal returns why the queue cannot dead-letter a message for a receiver that wants it kept (SBE-14), nil if it can.
func (d *Deliveries) refusal() error {
	switch {
	case policies.IsDeadLetterQueue(d.Name, d.Arguments):
		return &mail.NotDeadLettered{Queue: d.Name, Again: true}
	case !d.Messages.ShouldDeadLetter(store.Rejected):
		return &mail.NotDeadLettered{Queue: d.Name}
	}
	return nil
}

// deadLettered returns the ranges to settle. If the queue cannot dead-letter messages settled with ToDeadLetters, it
// returns them as Release, and the reason.
func (d *Deliveries) deadLettered(ranges []mail.SettleRange) (settled []mail.SettleRange, refused error) {
	wants := func(r mail.SettleRange) bool { return r.How == mail.ToDeadLetters }
	if !slices.ContainsFunc(ranges, wants) {
		return ranges, nil
	}
	if refused = d.refusal(); refused == nil {
		return ranges, nil
	}
	settled = slices.Clone(ranges)
	for i := range settled {
		if wants(settled[i]) {
			settled[i].How, settled[i].Outcome = mail.Release, nil
		}
	}
	return settled, refused
}
