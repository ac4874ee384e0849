package budget

import (
	"fmt"
	"sync"
)

// Prices are the bytes of memory that objects take, measured with many of them, besides names and arguments.
const (
	PriceChannel  = 4800 // a channel or session
	PriceConsumer = 600
	PriceLink     = 1600 // of AMQP 1.0
	PricePeer     = 700  // what a channel knows of a queue
	PriceQueue    = 3200
	PriceExchange = 3200
	PriceBinding  = 3500
	PricePolicy   = 3000 // its pattern has another price (policies.Policy.Memory)
	PriceSchedule = 8000 // with its last 50 runs; its definition is kept three times
)

// minObjects is the least limit of the objects of one connection in bytes, however small the memory watermark is; that of
// all is at least twice as large.
const minObjects = 16 << 20

// Objects bounds the memory of objects that exist as long as their clients want, and cannot leave memory: what
// connections have open, queues, exchanges and bindings. All of a broker's connections and virtual hosts share it. Safe for
// concurrent use; nil has no limits.
type Objects struct {
	mu        sync.Mutex
	all, each int64 // limits: of all, of one connection; 0 for none
	used      int64
	users     map[string]int64 // by user, virtual host, or both
	vhosts    map[string]int64
	both      map[userIn]int64
	commands  commands
}

type userIn struct{ user, vhost string }

// NewObjects returns Objects without limits.
func NewObjects() *Objects {
	return &Objects{users: map[string]int64{}, vhosts: map[string]int64{}, both: map[userIn]int64{}}
}

// SetLimit sets the limit of all objects together, in bytes. A virtual host may have seven eighths of what others leave
// of it, a user three quarters of what others leave of it and of that of the virtual host, or seven eighths with what
// connections have open; a connection an eighth.
// Existing objects stay.
func (o *Objects) SetLimit(bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all, o.each = max(bytes, 2*minObjects), max(bytes/8, minObjects)
}

// Used returns the bytes of all objects.
func (o *Objects) Used() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.used
}

// Holder pays for objects: a connection, a user for what it has declared in a virtual host, or a queue for what it notes. Nil
// has no limits.
type Holder struct {
	of          *Objects
	user, vhost string
	connection  bool
	notes       bool

	// Under the lock of Objects:
	held   int64
	closed bool
}

// Connection returns the holder of a connection. Close it.
func (o *Objects) Connection(user, vhost string) *Holder {
	if o == nil {
		return nil
	}
	return &Holder{of: o, user: user, vhost: vhost, connection: true}
}

// Definitions returns the holder of what a user declares in a virtual host. User "" is the broker itself, which is
// never refused.
func (o *Objects) Definitions(user, vhost string) *Holder {
	if o == nil {
		return nil
	}
	return &Holder{of: o, user: user, vhost: vhost}
}

// Notes returns the holder of what a queue keeps besides its messages, which counts for the holder's user and virtual host.
// Without a user only the virtual host and all count. Close it.
func (h *Holder) Notes() *Holder {
	if h == nil {
		return nil
	}
	return &Holder{of: h.of, user: h.user, vhost: h.vhost, notes: true}
}

// Room returns why the holder may not have objects of that many bytes more, nil if it may.
func (h *Holder) Room(bytes int64) error { return h.room(bytes, 1) }

// Spare reports whether there is room for objects that can be given up: they may not take the second half of any limit.
func (h *Holder) Spare(bytes int64) bool { return h.room(bytes, 2) == nil }

// room is Room as if everything were so many times as large.
func (h *Holder) room(bytes, times int64) error {
	if h == nil || !h.connection && !h.notes && h.user == "" {
		return nil
	}
	o := h.of
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == 0 {
		return nil
	}
	user, vhost, both := o.users[h.user], o.vhosts[h.vhost], o.both[userIn{h.user, h.vhost}]
	ofVHost, shares := most(o.all-o.used+vhost, 8), int64(4)
	if h.connection { // otherwise nobody could use, or delete, what fills the user's part
		shares = 8
	}
	ofUser, here := most(o.all-o.used+user, shares), most(ofVHost-vhost+both, shares)
	switch {
	case h.connection && times*(h.held+bytes) > o.each:
		return full("a connection", o.each)
	case times*(vhost+bytes) > ofVHost:
		return full("virtual host '"+h.vhost+"'", ofVHost)
	case h.user == "" && !h.connection:
	case times*(user+bytes) > ofUser:
		return full("user '"+h.user+"'", ofUser)
	case times*(both+bytes) > here:
		return full("user '"+h.user+"' in virtual host '"+h.vhost+"'", here)
	}
	return nil
}

// most returns what one may have of what the others leave: all but a share.
func most(left, shares int64) int64 { return max(left-left/shares, 0) }

func full(whose string, limit int64) error {
	return fmt.Errorf("the objects of %s may take at most %d bytes of memory", whose, limit)
}

// Hold counts objects of that many bytes more, or fewer if it is negative, whether there is room or not.
func (h *Holder) Hold(bytes int64) {
	if h == nil || bytes == 0 {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if !h.closed {
		h.add(bytes)
	}
}

// Held returns the counted bytes.
func (h *Holder) Held() int64 {
	if h == nil {
		return 0
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	return h.held
}

// Close returns everything. Later calls of Hold have no effect.
func (h *Holder) Close() {
	if h == nil {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if !h.closed {
		h.add(-h.held)
		h.closed = true
	}
}

// add changes all counts. The lock is held.
func (h *Holder) add(bytes int64) {
	h.held += bytes
	h.of.used += bytes
	count(h.of.users, h.user, bytes)
	count(h.of.vhosts, h.vhost, bytes)
	count(h.of.both, userIn{h.user, h.vhost}, bytes)
}

// count changes a count, which is forgotten at 0.
func count[K comparable](of map[K]int64, who K, bytes int64) {
	if of[who] += bytes; of[who] == 0 {
		delete(of, who)
	}
}
