package auth

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// Bounds on the log of login attempts.
const (
	maxSources = 1000 // the one without logins for longest is dropped
	maxName    = 255  // bytes of a user's name
)

// Logins counts logins since the start or the last ForgetLogins.
type Logins struct{ Succeeded, Failed uint64 }

// LoginCounts counts logins by protocol.
type LoginCounts struct{ AMQP091, AMQP10, HTTP Logins }

// SourceLogins counts the logins of a user from an address.
type SourceLogins struct {
	Address netip.Addr // not valid for a socket of this machine
	User    string     // "" if none was named; cut to 255 bytes
	// Protocol is AMQP091, AMQP10 or HTTP.
	Protocol string
	Logins
	last uint64 // sequence number of the last login
}

// attempts counts login attempts over AMQP and HTTP.
type attempts struct {
	mu      sync.Mutex
	all     LoginCounts
	sources map[source]*SourceLogins
	number  uint64
}

// source identifies the user, address and protocol of a login attempt.
type source struct {
	address netip.Addr
	user    string
	over    string // the protocol
}

// Protocols of logins.
const (
	AMQP091 = "amqp091"
	AMQP10  = "amqp10"
	HTTP    = "http"
)

// protocol names the protocol over which the peer logs in.
func (p Peer) protocol() string {
	switch {
	case p.HTTP:
		return HTTP
	case p.AMQP10:
		return AMQP10
	}
	return AMQP091
}

func (a *attempts) count(user string, peer Peer, succeeded bool) {
	from := source{over: peer.protocol(), user: strings.Clone(user[:min(len(user), maxName)])}
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
	total := map[string]*Logins{AMQP091: &a.all.AMQP091, AMQP10: &a.all.AMQP10, HTTP: &a.all.HTTP}[from.over]
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
	if len(a.sources) >= maxSources {
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
	known := &SourceLogins{Address: from.address, User: from.user, Protocol: from.over}
	a.sources[from] = known
	return known
}

// Logins returns the number of login attempts; over HTTP each request is one.
func (u *Users) Logins() LoginCounts {
	a := &u.attempts
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all
}

// LoginsBySource lists the login attempts of each user and address, for the 1000 most recent ones, by addresses and
// names.
func (u *Users) LoginsBySource() []SourceLogins {
	a := &u.attempts
	a.mu.Lock()
	list := make([]SourceLogins, 0, len(a.sources))
	for _, l := range a.sources {
		list = append(list, *l)
	}
	a.mu.Unlock()
	slices.SortFunc(list, func(a, b SourceLogins) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.User, b.User), cmp.Compare(a.Protocol, b.Protocol))
	})
	return list
}

// ForgetLogins resets the counts of logins.
func (u *Users) ForgetLogins() {
	a := &u.attempts
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all, a.sources = LoginCounts{}, nil
}
