package schedule

// Allow tells whether one more may be released, by a rate in messages a second, -1 for any.
func (x *Schedule) Allow(rate, now int64) bool { return x.rate.allow(rate, now) }

// NextRelease is when the first may be released, in wall ms.
func (x *Schedule) NextRelease(rate int64) (at int64, ok bool) {
	if x == nil || x.Reading {
		return 0, false
	}
	_, due, ok := x.due.First()
	return max(due, x.rate.next(rate)), ok
}

// rateLimiter bounds how many messages are released in a second. What was not used for a
// while is not made up for, but for what falls into paceWindow.
type rateLimiter struct {
	at     int64 // wall ms up to which credit is counted
	credit int64 // in thousandths of a message
}

const (
	paceWindow = 10      // ms
	paceMost   = 1 << 40 // a rate beyond it is none
)

// allow tells whether one more may go.
func (p *rateLimiter) allow(rate, now int64) bool {
	if rate < 0 || rate >= paceMost {
		return true
	}
	most := max(rate*paceWindow, 1000)
	if passed := now - p.at; passed > 0 {
		p.at = now
		if p.credit += min(passed, 1000) * rate; p.credit > most {
			p.credit = most
		}
	}
	if p.credit < 1000 {
		return false
	}
	p.credit -= 1000
	return true
}

// next is when one more may go, in wall ms; 0 for at once.
func (p *rateLimiter) next(rate int64) int64 {
	if rate < 0 || rate >= paceMost || p.credit >= 1000 {
		return 0
	}
	return p.at + (1000-p.credit+rate-1)/rate
}
