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
)

// minObjects is the least limit of objects in bytes, however small the memory watermark is.
const minObjects = 16 << 20

// Objects bounds the memory of objects that exist as long as their clients want, and cannot leave memory: what
// connections have open, queues, exchanges and bindings. All of a broker's connections and virtual hosts share it. Safe for
// concurrent use; nil has no limits.
type Objects struct {
	mu             sync.Mutex
	all, one, each int64 // limits: of all, of one user or virtual host, of one connection; 0 for none
	used           int64
	users, vhosts  map[string]int64 // users and virtual hosts with objects
	commands       commands
}

// NewObjects returns Objects without limits.
func NewObjects() *Objects { return &Objects{users: map[string]int64{}, vhosts: map[string]int64{}} }

// SetLimit sets the limit of all objects together, in bytes. A user, and a virtual host, may have three quarters of it,
// a connection an eighth. Existing objects stay.
func (o *Objects) SetLimit(bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all, o.one, o.each = max(bytes, minObjects), max(bytes/4*3, minObjects), max(bytes/8, minObjects)
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
	switch {
	case o.all == 0:
	case h.connection && times*(h.held+bytes) > o.each:
		return full("a connection", o.each)
	case times*(o.users[h.user]+bytes) > o.one && (h.user != "" || h.connection):
		return full("user '"+h.user+"'", o.one)
	case times*(o.vhosts[h.vhost]+bytes) > o.one:
		return full("virtual host '"+h.vhost+"'", o.one)
	case times*(o.used+bytes) > o.all:
		return full("all users", o.all)
	}
	return nil
}

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
}

// count changes a count, which is forgotten at 0.
func count(of map[string]int64, name string, bytes int64) {
	if of[name] += bytes; of[name] == 0 {
		delete(of, name)
	}
}
