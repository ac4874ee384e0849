package topology

import (
	"iter"

	"candlemark/internal/erlang"
	"candlemark/protocol"
)

// The names of the recent-history exchange.
const (
	// RecentHistoryType is the type of exchange that keeps the last messages for bindings to come (DEC-17). It routes like a fanout.
	RecentHistoryType = "x-recent-history"
	// NoHistoryHeader says with the boolean true that a message is not to be kept.
	NoHistoryHeader = "x-recent-history-no-store"
	// historyLength is the argument of the exchange that says how many messages are kept, usualHistory how many without it.
	historyLength = "x-recent-history-length"
	usualHistory  = 20
)

// historyPrefix and the name of an exchange are the name by which the routes call the one that keeps its messages. Clients cannot
// make such a name (DEC-8).
const historyPrefix = "amq.history."

// HistoryLength returns how many messages an exchange of that type is to keep by its arguments, which are valid.
func HistoryLength(args protocol.Table) int64 {
	v, _ := args.Get(historyLength)
	if n, is := protocol.Int64(v); is {
		return n
	}
	return usualHistory
}

// validateHistory wants the length to be a positive integer of one of the signed types.
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

// WithHistory is r as the next table of an exchange that keeps what it routes: publishes have the exchange's actor among where they
// lead (Router.Histories), and it learns from Queue.Table by which of its tables.
func (r *Routes) WithHistory(x *Exchange) *Routes {
	c := *r
	c.history = &Queue{Name: historyPrefix + x.Name, PID: x.PID, Table: r.Number() + 1}
	return &c
}

// Number returns that of the table, 0 for one without WithHistory.
func (r *Routes) Number() uint64 {
	if r.history == nil {
		return 0
	}
	return r.history.Table
}

// Between yields where those bindings lead that are in the table of the number last, and not in that of the number first: tables of
// the same exchange, of which r is not older.
func (r *Routes) Between(first, last uint64) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for e := range r.bindings.under("") {
			if e.since > first && e.since <= last && !yield(e.target) {
				return
			}
		}
	}
}

// Histories are, for the last route, the actors of the exchanges on it that keep what they route. A publish goes to them as to queues; a route that
// has nothing else is unroutable all the same. It is valid until the next call of Route.
func (r *Router) Histories() []*Queue { return r.histories }
