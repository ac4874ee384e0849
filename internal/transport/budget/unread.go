package budget

import (
	"sync"
	"sync/atomic"
	"time"
)

// Limits of output that clients do not read.
const (
	// FreeUnread is the number of unread bytes that each connection may have, regardless of others.
	FreeUnread = 64 << 10
	// MaxOutput is the maximum of unread deliveries of one connection, over all its consumers, in bytes, if the broker
	// has no watermark that allows less. One message may exceed it.
	MaxOutput = 16 << 20
	// UnreadWindow is the period over which the progress of a client is measured while others need the room.
	UnreadWindow = 5 * time.Second
	// bookStep is the granularity, in bytes, in which connections change the counts that they share.
	bookStep = 64 << 10
)

// Unread bounds the bytes that the broker has for its clients and that they do not read: deliveries between a queue and
// the socket, answers over AMQP. All of a broker's connections share it.
//
// What an Output holds beyond FreeUnread counts for its user and for all. While the user has less than its share, and
// all together have less than the limit, an Output may get one more message or answer of any size; so each goroutine
// can exceed the limit by one message or answer. Above the limits, output waits where waiting is cheap: in queues, or
// before it is collected. A client that makes others wait, holds more than FreeUnread and reads less than SlowestRate
// throughout an UnreadWindow is cut off. Safe for concurrent use; nil has no bounds.
type Unread struct {
	limit, share, each atomic.Int64 // of all, of one user, and of the deliveries of one connection; 0 for none
	used               atomic.Int64 // changed under mu

	mu      sync.Mutex
	users   map[string]*reader
	large   map[*Output]struct{} // outputs that hold more than FreeUnread
	waiting map[*Output]struct{} // outputs that wait until all together hold less
}

// reader is a user with outputs.
type reader struct {
	used    atomic.Int64 // changed under mu
	outputs int
	waiting map[*Output]struct{} // outputs that wait until the user holds less
}

// NewUnread returns an Unread that bounds only the deliveries of each connection.
func NewUnread() *Unread {
	u := &Unread{users: map[string]*reader{}, large: map[*Output]struct{}{}, waiting: map[*Output]struct{}{}}
	u.each.Store(MaxOutput)
	return u
}

// SetLimit sets the limit of all unread bytes together, at least 1. One user may have half of it, and the deliveries of
// one connection a quarter, or MaxOutput if that is less.
func (u *Unread) SetLimit(bytes int64) {
	u.limit.Store(bytes)
	u.share.Store(max(bytes/2, 1))
	u.each.Store(max(min(bytes/4, MaxOutput), 1))
}

// Used returns the unread bytes beyond FreeUnread.
func (u *Unread) Used() int64 { return u.used.Load() }

// Of returns the Output of a new connection, or of the answer to a request, of a user. cut closes the connection; it is
// called from any goroutine and must not block. Close the Output.
func (u *Unread) Of(user string, cut func()) *Output {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.users[user]
	if r == nil {
		r = &reader{waiting: map[*Output]struct{}{}}
		u.users[user] = r
	}
	r.outputs++
	o := &Output{of: u, name: user, user: r, cut: cut, parts: map[*Part]struct{}{}}
	o.low.Store(never)
	return o
}

func (u *Unread) full() bool { return over(&u.used, &u.limit) }

// over reports whether used has reached the limit, if there is one.
func over(used, limit *atomic.Int64) bool {
	most := limit.Load()
	return most > 0 && used.Load() >= most
}

// relieved reports whether used is so far below the limit that it is worth continuing.
func relieved(used, limit *atomic.Int64) bool {
	most := limit.Load()
	return most <= 0 || used.Load() <= most-most/8
}

// Look cuts off clients that read too slowly while others need the room, and returns the users of those connections, one
// entry for each connection. at is how long the broker has run, which never decreases. The memory monitor calls it every
// second or more often.
func (u *Unread) Look(at time.Duration) (users []string) {
	u.mu.Lock()
	var slow []*Output
	short := u.full() || len(u.waiting) > 0
	for o := range u.large {
		if !short && !over(&o.user.used, &u.share) && len(o.user.waiting) == 0 {
			o.since = 0
			continue
		}
		if o.slow(at) {
			slow, users = append(slow, o), append(users, o.name)
		}
	}
	u.mu.Unlock()
	for _, o := range slow {
		o.cut()
	}
	return users
}

// wake removes waiting outputs from a set, and returns the functions to call.
func wake(set map[*Output]struct{}) (calls []func()) {
	for o := range set {
		calls = append(calls, o.waked()...)
	}
	clear(set)
	return calls
}
