package events

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"candlemark/protocol"
)

// Record defines whether the log gets a line for an event.
type Record uint8

const (
	// Unrecorded: never.
	Unrecorded Record = iota
	// Routine: at the level debug.
	Routine
	// Change: at the level info.
	Change
)

// Event is an event of the broker. It is immutable once published.
type Event struct {
	Name  string  // as RabbitMQ names it: "queue.created"
	VHost string  // "" outside of virtual hosts
	By    *Origin // nil: the broker itself
	// Fields describe it, under RabbitMQ's names.
	Fields protocol.Table
	// Before is the previous state for the log, of any type with a JSON form; nil for none.
	Before any
	// At is the time of Publish, in ms since 1970.
	At   int64
	size int // in bytes, about
}

// Headers returns the fields as headers of messages of RabbitMQ's event exchange.
func (e *Event) Headers() protocol.Table {
	return append(slices.Clone(e.Fields),
		protocol.Field{Key: "user_who_performed_action", Value: e.By.user()},
		protocol.Field{Key: "timestamp_in_ms", Value: e.At})
}

// Log writes lines for events.
type Log interface {
	// Line returns the function that writes the line of one event with that record, nil if such events get none.
	Line(record Record) (write func(*Event))
}

// Config configures a Hub.
type Config struct {
	Log Log // nil: events have no lines
	// Now returns the time in ms since 1970.
	Now func() int64
}

// Hub passes the events of a broker to listeners and to the log. A nil Hub drops them.
type Hub struct {
	cfg       Config
	mu        sync.Mutex                  // held to change:
	listeners atomic.Pointer[[]*Listener] // nil for none; never altered
}

// NewHub returns a Hub without listeners.
func NewHub(cfg Config) *Hub { return &Hub{cfg: cfg} }

// Publish records an event in the log and passes it to the listeners. event is called at once, or not at all if the
// event is neither recorded nor wanted.
func (h *Hub) Publish(record Record, event func() *Event) {
	if h == nil {
		return
	}
	var write func(*Event)
	if h.cfg.Log != nil {
		write = h.cfg.Log.Line(record)
	}
	wanted := h.Wanted()
	if write == nil && !wanted {
		return
	}
	e := event()
	e.Fields = shownTable(e.Fields)
	e.At = h.cfg.Now()
	if write != nil {
		write(e)
	}
	if wanted {
		e.size = eventSize + int(e.Fields.Memory())
		for _, l := range *h.listeners.Load() {
			l.notify(e)
		}
	}
}

// Wanted reports whether there are listeners.
func (h *Hub) Wanted() bool {
	if h == nil {
		return false
	}
	all := h.listeners.Load()
	return all != nil && slices.ContainsFunc(*all, func(l *Listener) bool { return l.idle == nil || !l.idle() })
}

// Notification is an event that a listener gets.
type Notification struct {
	*Event        // nil: only Lost is set
	Lost   uint64 // number of events that the listener missed since the previous one
}

// Listener receives events.
type Listener struct {
	C     chan Notification
	hub   *Hub
	wants func(*Event) bool
	idle  func() bool

	mu   sync.Mutex
	held int // bytes of the events in C, and of events not yet passed to Done
	lost uint64
}

// eventSize is the size of an event without its fields, in bytes. The events that wait for a listener take at most usualSize for
// each place, or are one.
const (
	eventSize = 128
	usualSize = 1 << 10
)

// Listen returns a listener that buffers up to room events, of 1 KiB each on average; the caller closes it, and calls Done for
// each one that it has taken from C. It gets the events for which wants
// returns true, nil for all. While idle returns true, nil for never, it need not get any. Both functions are called by
// the publishers of events, and must neither block nor publish.
func (h *Hub) Listen(room int, wants func(*Event) bool, idle func() bool) *Listener {
	l := &Listener{C: make(chan Notification, cmp.Or(room, 1)), hub: h, wants: wants, idle: idle}
	h.change(func(all []*Listener) []*Listener { return append(all, l) })
	return l
}

// Close ends the listener.
func (l *Listener) Close() {
	l.hub.change(func(all []*Listener) []*Listener {
		return slices.DeleteFunc(all, func(other *Listener) bool { return other == l })
	})
}

func (h *Hub) change(f func([]*Listener) []*Listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*Listener
	if now := h.listeners.Load(); now != nil {
		all = slices.Clone(*now)
	}
	all = f(all)
	h.listeners.Store(&all)
}

func (l *Listener) notify(e *Event) {
	if l.idle != nil && l.idle() || l.wants != nil && !l.wants(e) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held > 0 && l.held+e.size > cap(l.C)*usualSize {
		l.lost++
		return
	}
	select {
	case l.C <- Notification{e, l.lost}:
		l.held += e.size
		l.lost = 0
	default:
		l.lost++
	}
}

// Busy reports whether an event waits in C or was not yet passed to Done.
func (l *Listener) Busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held > 0
}

// Done makes room for another event.
func (l *Listener) Done(n Notification) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= n.size
}

// Missed returns the number of events missed after the last one in C, and resets it.
func (l *Listener) Missed() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.C) > 0 {
		return 0
	}
	lost := l.lost
	l.lost = 0
	return lost
}
