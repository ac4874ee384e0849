package inspect

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// Preview counts what other settings would do to the messages of a queue. It takes several turns, and messages that
// come or go between them may or may not be counted.
type Preview struct {
	Asked *mail.PreviewSettings
	reply mail.SettingsPreview
	at    backlog.Handle
}

// NewPreview starts a preview in a queue whose current settings are now. It examines messages only if their deadlines
// may change.
func NewPreview(m *mail.PreviewSettings, now *policies.QueueSettings) *Preview {
	p := &Preview{Asked: m, reply: mail.SettingsPreview{Reply: m.Done(nil)}}
	if m.Settings.Retimes(now) {
		p.at = 1
	}
	return p
}

// Step examines about limit messages; it returns nil until the preview is complete. kept is the number of dead letters
// that count for max-length.
func (p *Preview) Step(b *backlog.Backlog, e *expiry.Expiry, now clock.Instant, limit int, kept int64, dates clock.Dates) *mail.SettingsPreview {
	by, r := &p.Asked.Settings, &p.reply
	if p.at != 0 {
		p.at = b.Sweep(p.at, limit, func(h backlog.Handle) {
			if b.Entry(h).Marks&backlog.Ended != 0 {
				return
			}
			before, after := e.Present(h), e.By(by, h)
			expires := after <= now.Floor() && b.IsReady(h)
			if expires {
				r.Expiring++
			}
			if after != before {
				at := int64(0)
				if after != store.Never {
					at = dates.Date(after)
				}
				r.Retime(at, expires, after == backlog.Entered(b, h))
			}
		})
		if p.at != 0 {
			return nil
		}
	}
	r.AtMost = by.StrictExpiry && r.Expiring > 0
	if ready := int64(b.Ready() - r.Expiring); by.MaxLength >= 0 && by.Overflow == "drop-head" {
		r.Dropped = int(min(max(ready+kept-by.MaxLength, 0), max(ready, 0)))
	}
	return r
}
