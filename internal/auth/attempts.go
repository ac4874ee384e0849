package auth

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// Bounds on what is remembered of who has tried to log in.
const (
	mostSources = 1000 // the first to have been quiet goes
	longestName = 255  // bytes of a user's name
)

// Logins counts logins since the start, or since they were forgotten.
type Logins struct{ Succeeded, Failed uint64 }

// SourceLogins are those of a user from an address.
type SourceLogins struct {
	Address netip.Addr // not valid for a socket of this machine
	User    string     // "" if none was named; cut to 255 bytes
	HTTP    bool
	Logins
	last uint64 // when, in order
}

// attempts counts those over AMQP and over HTTP.
type attempts struct {
	mu      sync.Mutex
	all     [2]Logins // over AMQP, over HTTP
	sources map[source]*SourceLogins
	number  uint64
}

// source is who tries from where.
type source struct {
	address netip.Addr
	user    string
	http    bool
}

func (a *attempts) count(user string, peer Peer, succeeded bool) {
	from := source{http: peer.HTTP, user: strings.Clone(user[:min(len(user), longestName)])}
	if peer.Addr != nil {
		if at, err := netip.ParseAddrPort(peer.Addr.String()); err == nil {
			from.address = at.Addr().Unmap()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.sources[from]
	if known == nil {
		known = a.add(from)
	}
	a.number++
	known.last = a.number
	total := &a.all[0]
	if peer.HTTP {
		total = &a.all[1]
	}
	for _, l := range [...]*Logins{total, &known.Logins} {
		if succeeded {
			l.Succeeded++
		} else {
			l.Failed++
		}
	}
}

// add remembers a source. mu is held.
func (a *attempts) add(from source) *SourceLogins {
	if len(a.sources) >= mostSources {
		var quiet source
		for s, l := range a.sources {
			if first := a.sources[quiet]; first == nil || l.last < first.last {
				quiet = s
			}
		}
		delete(a.sources, quiet)
	}
	if a.sources == nil {
		a.sources = map[source]*SourceLogins{}
	}
	known := &SourceLogins{Address: from.address, User: from.user, HTTP: from.http}
	a.sources[from] = known
	return known
}

// Logins tells how often somebody has tried to log in over AMQP, and with a request over HTTP.
func (u *Users) Logins() (amqp, http Logins) {
	a := &u.attempts
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[0], a.all[1]
}

// LoginsBySource lists them by who tried and from where, the 1000 that did last, by addresses and names.
func (u *Users) LoginsBySource() []SourceLogins {
	a := &u.attempts
	a.mu.Lock()
	list := make([]SourceLogins, 0, len(a.sources))
	for _, l := range a.sources {
		list = append(list, *l)
	}
	a.mu.Unlock()
	slices.SortFunc(list, func(a, b SourceLogins) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.User, b.User), cmp.Compare(web(a.HTTP), web(b.HTTP)))
	})
	return list
}

func web(http bool) int {
	if http {
		return 1
	}
	return 0
}

// ForgetLogins begins to count logins anew.
func (u *Users) ForgetLogins() {
	a := &u.attempts
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all, a.sources = [2]Logins{}, nil
}
