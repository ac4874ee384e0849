package auth

import "sync/atomic"

// Logins counts logins since the start.
type Logins struct{ Succeeded, Failed uint64 }

// attempts are those over AMQP and over HTTP.
type attempts [2]struct{ succeeded, failed atomic.Uint64 }

func (a *attempts) count(http, succeeded bool) {
	to := &a[0]
	if http {
		to = &a[1]
	}
	if succeeded {
		to.succeeded.Add(1)
	} else {
		to.failed.Add(1)
	}
}

// Logins tells how often somebody has tried to log in over AMQP, and with a request over HTTP.
func (u *Users) Logins() (amqp, http Logins) {
	a := &u.attempts
	return Logins{a[0].succeeded.Load(), a[0].failed.Load()}, Logins{a[1].succeeded.Load(), a[1].failed.Load()}
}
