package management

import (
	"context"

	"candlemark/internal/access/auth"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
)

// Monitoring is the part of the broker that monitoring systems ask.
type Monitoring interface {
	// Metrics reads the numbers of the whole broker. It asks connections and channels, but no queue.
	Metrics(ctx context.Context) (Metrics, error)
	// Due returns when ready messages of all queues expire. It asks the queues that hold such messages, and returns nil if
	// there are more than MaxDue of them.
	Due(ctx context.Context) (*ExpiryCounts, error)
	// Lateness returns how late messages have expired, and scheduled ones were released, since the broker started, in
	// s. It queries no actor.
	Lateness() (expired, released metrics.Buckets)
	// OldestReadyAge returns the age of the oldest ready message of all queues in ms, 0 if none is ready (AGE-2). It
	// queries no actor.
	OldestReadyAge() int64
}

// MaxDue is how many queues Due and Ahead ask.
const MaxDue = 10_000

// Metrics are numbers of the whole broker, not quite of one moment. Counters begin when the broker starts.
type Metrics struct {
	Overview
	Machine
	ClusterID   string
	DeadLetters DeadLetters
	// Queues are all queues added up, by metrics.Kind.
	Queues [metrics.Holder + 1]queuestats.Sums
	// ByProtocol has what clients of each have done.
	ByProtocol [Protocols]ByProtocol
	// Messages published and not confirmed, or not committed, and acknowledgements not committed.
	Unconfirmed, Uncommitted, AcksUncommitted int
	// Expired and Released say how late messages left that were due, in s.
	Expired, Released metrics.Buckets
	// Wait and Processing say, by metrics.Kind, how long messages waited and were processed, in s (AGE-3).
	Wait, Processing [metrics.Holder]metrics.Buckets
	// Schedules are the numbers of schedules by state, ScheduleRuns those of their runs by result; ScheduleLate says how late runs were stored, in s.
	Schedules    map[string]int
	ScheduleRuns map[string]int64
	ScheduleLate metrics.Buckets
	// SkippedBindings and CostlyRules count as Exchange.Skipped and Queue.CostlyRules, in all virtual hosts.
	SkippedBindings, CostlyRules uint64
	// Logins counts attempts to log in.
	Logins auth.LoginCounts
	// Panics counts panics of actors, by kind of actor.
	Panics map[string]uint64
	// Actors is the load of the actors.
	Actors Actors
	// Journal is nil for a journal without metrics.
	Journal *Journal
}

// Protocol is one that clients speak.
type Protocol int

// The protocols.
const (
	AMQP091 Protocol = iota
	AMQP10
	Protocols // how many there are
)

// ByProtocol are numbers of clients of one protocol.
type ByProtocol struct {
	Counts    Counts // since the broker started
	Published metrics.Published
	// Publishers are open channels, or sessions, that have published; Consumers are consumers of such channels and
	// sessions.
	Publishers, Consumers int
}

// Actors describes the actors that have their turn or wait for it, at a moment.
type Actors struct {
	Busy    int
	Mails   int // that wait in their mailboxes
	Longest int // in the fullest mailbox
}

// Journal are figures of the journal since it was opened.
type Journal struct {
	Commits metrics.Buckets // how long each took, in s
	Records uint64
	Written uint64 // bytes
	Bytes   int64  // of its files
	Live    int    // messages in it
}
