package topology

import (
	"iter"

	"candlemark/internal/text/erlang"
	"candlemark/protocol"
)

// The names of the recent-history exchange.
const (
	// RecentHistoryType is the type of exchange that keeps the last messages for future bindings (DEC-17). It routes
	// like a fanout.
	RecentHistoryType = "x-recent-history"
	// NoHistoryHeader with the boolean true prevents a message from being kept.
	NoHistoryHeader = "x-recent-history-no-store"
	// historyLength is the argument of the exchange with the number of messages to keep, usualHistory the default
	// number.
	historyLength = "x-recent-history-length"
	usualHistory  = 20
)

// historyPrefix followed by the name of an exchange is the name in routes of the actor that keeps its messages. Clients
// cannot use such names (DEC-8).
const historyPrefix = "amq.history."

// HistoryLength returns the number of messages that an exchange of that type keeps; its arguments must be valid.
func HistoryLength(args protocol.Table) int64 {
	v, _ := args.Get(historyLength)
	if n, is := protocol.Int64(v); is {
		return n
	}
	return usualHistory
}

// validateHistory requires the length to be a positive integer of a signed type.
func validateHistory(args protocol.Table) *protocol.ChannelError {
	v, found := args.Get(historyLength)
	if !found {
		return nil
	}
	switch v.(type) {
	case int8, int16, int32, int64:
		if n, _ := protocol.Int64(v); n > 0 {
			return nil
		}
	}
	return protocol.ChannelErrorf(protocol.PreconditionFailed,
		"Invalid argument %s, 'x-recent-history-length' must be a positive integer", erlang.Field(v))
}

// WithHistory returns r as the next table of an exchange that keeps the messages it routes: publishes also go to the
// exchange's actor (Router.Histories), which learns from Queue.Table which of its tables routed them.
func (r *BindingTable) WithHistory(x *Exchange) *BindingTable {
	c := *r
	c.history = &Queue{Name: historyPrefix + x.Name, PID: x.PID, Table: r.Number() + 1}
	return &c
}

// Number returns the number of the table, 0 without WithHistory.
func (r *BindingTable) Number() uint64 {
	if r.history == nil {
		return 0
	}
	return r.history.Table
}

// Between yields the targets of bindings in the table with number last but not in the table with number first. Both are
// tables of the same exchange, and r is not older than they are.
func (r *BindingTable) Between(first, last uint64) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for e := range r.bindings.under("") {
			if e.since > first && e.since <= last && !yield(e.target) {
				return
			}
		}
	}
}

// Histories returns the actors of exchanges on the last route that keep the messages they route. A publish goes to them
// as to queues; a route with nothing else is still unroutable. It is valid until the next call of Route.
func (r *Router) Histories() []*Queue { return r.histories }
