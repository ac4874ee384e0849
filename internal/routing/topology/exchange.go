package topology

import (
	"sync/atomic"

	"candlemark/protocol"
)

// Exchange is a declared exchange. Everything except its routing table, its holder and its counts is immutable. It must
// not be copied.
type Exchange struct {
	// Name is unique within the vhost; the default exchange has the empty name.
	Name string
	// Type as declared: a type supported by NewRoutes, or "x-delayed-message".
	Type string
	// PID is the exchange actor; nil for the default exchange.
	PID Address
	// Durable, AutoDelete and Internal are the flags of exchange.declare.
	Durable, AutoDelete, Internal bool
	// Arguments as declared.
	Arguments protocol.Table
	// VHost is where it is declared; nil if its messages are not counted there.
	VHost *VHost
	// User declared it; "" if that is not known or was the broker.
	User string

	routes atomic.Pointer[BindingTable]
	holder atomic.Pointer[Queue]

	in, out atomic.Uint64
	last    atomic.Int64
	skipped atomic.Uint64
}

// Count adds messages that clients published to the exchange, and the number of queues they went to, at a time in ms of
// the broker's time. Any goroutine may call it.
func (x *Exchange) Count(in, out uint64, at int64) {
	x.in.Add(in)
	x.out.Add(out)
	x.last.Store(at)
}

// LastPublish returns the time of the last Count, 0 for none.
func (x *Exchange) LastPublish() int64 { return x.last.Load() }

// Published returns the sums of all counts.
func (x *Exchange) Published() (in, out uint64) { return x.in.Load(), x.out.Load() }

// Skipped returns the number of messages for which some of the exchange's bindings were not evaluated because that would
// have taken too many steps (DEC-19). Messages that arrive on several ways may count several times.
func (x *Exchange) Skipped() uint64 { return x.skipped.Load() }

// noRoutes is the table of an exchange before its first one is published.
var noRoutes = &BindingTable{matcher: &fanout{}}

// Routes returns the current routing table. Never nil: before the first Publish it is a table that routes nothing.
func (x *Exchange) Routes() *BindingTable {
	if r := x.routes.Load(); r != nil {
		return r
	}
	return noRoutes
}

// Publish makes r the current routing table. Only the exchange's actor calls it, followed by VHost.Bump.
func (x *Exchange) Publish(r *BindingTable) { x.routes.Store(r) }
