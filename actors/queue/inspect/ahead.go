package inspect

import "candlemark/actors/system/mail"

// Ahead returns the number of items that will be due, by time. now is in ms of the broker's time.
func (v View) Ahead(now int64) *mail.Ahead {
	a := &mail.Ahead{}
	var expiring, scheduled, locks int
	for i, ms := range mail.AheadHorizons {
		before := [...]int{expiring, scheduled, locks}
		expiring, locks = v.Expiry.Due(now+ms), v.AckTimeouts.Due(now+ms)
		if v.Scheduled != nil {
			scheduled = v.Scheduled.Due(now + ms)
		}
		a.Expiring[i], a.Scheduled[i], a.Locks[i] = expiring-before[0], scheduled-before[1], locks-before[2]
	}
	last := len(mail.AheadHorizons)
	a.Expiring[last], a.Locks[last] = v.Expiry.Len()-expiring, v.AckTimeouts.Len()-locks
	if v.Scheduled != nil {
		a.Scheduled[last] = v.Scheduled.Len() - scheduled
	}
	if at, is := v.AckTimeouts.First(); is {
		a.NextLock = v.Style.Dates.Date(at)
	}
	return a
}
