package schedule

// Allow reports whether another message may be released, at a rate in messages per second, -1 for no limit.
func (x *Schedule) Allow(rate, now int64) bool { return x.rate.allow(rate, now) }

// NextRelease returns when the first message may be released, in wall ms.
func (x *Schedule) NextRelease(rate int64) (at int64, ok bool) {
	if x == nil || x.Reading {
		return 0, false
	}
	_, due, ok := x.due.First()
	return max(due, x.rate.next(rate)), ok
}

// rateLimiter limits the number of releases per second. Unused credit expires after paceWindow.
type rateLimiter struct {
	at     int64 // wall ms up to which credit was added
	credit int64 // in 1/1000 of a message
}

const (
	paceWindow = 10      // ms
	maxRate    = 1 << 40 // a higher rate means no limit
)

// allow reports whether another message may be released.
func (p *rateLimiter) allow(rate, now int64) bool {
	if rate < 0 || rate >= maxRate {
		return true
	}
	burst := max(rate*paceWindow, 1000)
	if passed := now - p.at; passed > 0 {
		p.at = now
		if p.credit += min(passed, 1000) * rate; p.credit > burst {
			p.credit = burst
		}
	}
	if p.credit < 1000 {
		return false
	}
	p.credit -= 1000
	return true
}

// next returns when another message may be released, in wall ms; 0 for at once.
func (p *rateLimiter) next(rate int64) int64 {
	if rate < 0 || rate >= maxRate || p.credit >= 1000 {
		return 0
	}
	return p.at + (1000-p.credit+rate-1)/rate
}
