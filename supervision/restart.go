package supervision

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Kind of an actor in the tree.
type Kind string

// The kinds, by the first word of their names.
const (
	KindRegistry   Kind = "policies"
	KindVHost      Kind = "vhost"
	KindDeadLetter Kind = "deadletter"
	KindAdmin      Kind = "admin"
	KindConnection Kind = "connection"
	KindChannel    Kind = "channel"
	KindExchange   Kind = "exchange"
	KindQueue      Kind = "queue"
	KindShovel     Kind = "shovel"
	KindMove       Kind = "move"
	KindRecurring  Kind = "recurring"
)

// Restart defines what happens to an actor that panicked.
type Restart struct {
	// Directive: Resume keeps the state and continues after the failed mail, which was answered with 541; Restart
	// begins with an empty state; Stop ends the actor, which notifies its watchers.
	Directive actor.Directive
	// Retries is the number of immediate restarts within Window. Each later restart is delayed: by 1 s, then twice as long
	// each time, at most 30 s; mail waits until then. Resume has no limit: every panic loses the mail that caused it.
	Retries int
	Window  time.Duration
	// Keeps and Informs describe the surviving state and the informed actors.
	Keeps, Informs string
}

// Table defines the restarts of every kind of actor.
var Table = map[Kind]Restart{
	KindRegistry:   {actor.ResumeDirective, 0, 0, "policies", "the asker: the command failed"},
	KindVHost:      {actor.ResumeDirective, 0, 0, "names, children", "the asker: 541"},
	KindExchange:   {actor.ResumeDirective, 0, 0, "bindings", "the asker: 541"},
	KindDeadLetter: {actor.RestartDirective, 10, time.Minute, "nothing: queues keep dead letters until they are handled", "queues, which send again"},
	KindAdmin:      {actor.ResumeDirective, 0, 0, "nothing to keep", "the asker: the command failed"},
	KindConnection: {actor.StopDirective, 0, 0, "nothing", "the client: the socket closes"},
	KindChannel:    {actor.StopDirective, 0, 0, "nothing: queues own what was unacknowledged", "the client: 541"},
	KindShovel:     {actor.RestartDirective, 10, time.Minute, "nothing: unacknowledged messages are in the source", "none"},
	KindRecurring:  {actor.RestartDirective, 10, time.Minute, "how far each schedule came: runs after it are published again, once in each queue", "users who have triggered a run: refused"},
	KindMove:       {actor.StopDirective, 0, 0, "nothing: messages that were not moved are in the queue", "users, by the status of the move"},
	KindQueue:      {actor.StopDirective, 0, 0, "of a durable one what the journal has", "consumers: cancelled; publishers: nack; the vhost, which brings a durable one back, or puts down one that panics in replay"},
}

// Failures counts panics by kind.
type Failures struct{ counts [11]atomic.Uint64 }

// strategy is OneForOne by the table. It is stateless except for the counters and crashed queues, so all parents share
// one.
type strategy struct {
	log      zerolog.Logger
	failures *Failures
	crashed  crashedQueues
}

// HandleFailure implements actor.SupervisorStrategy.
func (s *strategy) HandleFailure(_ *actor.ActorSystem, parent actor.Supervisor, child *actor.PID, stats *actor.RestartStatistics, reason, what any) {
	kind := KindOf(child)
	r := Table[kind]
	directive := r.Directive
	s.failures.add(kind)
	if kind == KindQueue {
		s.crashed.add(child)
	}
	s.log.Error().Str("actor", child.Id).Str("kind", string(kind)).Stringer("directive", directive).
		Type("mail", what).Any("reason", reason).Msg("actor panicked")
	switch directive {
	case actor.ResumeDirective:
		parent.ResumeChildren(child)
	case actor.RestartDirective:
		restart(parent, child, r.pause(stats))
	case actor.StopDirective, actor.EscalateDirective:
		parent.StopChildren(child)
	}
}

// The pauses before restarts beyond Retries.
const (
	minRestartDelay = time.Second
	maxRestartDelay = 30 * time.Second
)

// pause returns how long a restart must wait.
func (r Restart) pause(stats *actor.RestartStatistics) time.Duration {
	if stats.NumberOfFailures(r.Window) == 0 {
		stats.Reset() // or it would remember all failures
	}
	stats.Fail()
	extra := stats.NumberOfFailures(r.Window) - r.Retries
	switch {
	case extra <= 0:
		return 0
	case extra > 5:
		return maxRestartDelay
	}
	return min(minRestartDelay<<(extra-1), maxRestartDelay)
}

// restart restarts the child after the pause; until then it is suspended. A child stopped during the pause is not
// restarted.
func restart(parent actor.Supervisor, child *actor.PID, pause time.Duration) {
	if pause == 0 {
		parent.RestartChildren(child)
		return
	}
	time.AfterFunc(pause, func() { parent.RestartChildren(child) })
}

// order defines the index of each kind's counter.
var order = []Kind{KindRegistry, KindVHost, KindExchange, KindDeadLetter, KindAdmin, KindConnection, KindChannel, KindQueue, KindShovel, KindMove, KindRecurring}

func (f *Failures) add(kind Kind) {
	for i, k := range order {
		if k == kind {
			f.counts[i].Add(1)
		}
	}
}

// Count returns the number of panics of a kind of actor.
func (f *Failures) Count(kind Kind) uint64 {
	for i, k := range order {
		if k == kind {
			return f.counts[i].Load()
		}
	}
	return 0
}

// Counts returns the number of panics of all kinds.
func (f *Failures) Counts() map[string]uint64 {
	all := make(map[string]uint64, len(order))
	for i, k := range order {
		all[string(k)] = f.counts[i].Load()
	}
	return all
}

// KindOf returns the kind in a path: broker/vhost/%2f is a virtual host and broker/vhost/%2f/queue/orders/3 a queue.
// Names are escaped, so none contains a slash.
func KindOf(pid *actor.PID) Kind {
	words := strings.Split(pid.Id, "/")
	if len(words) < 2 {
		return ""
	}
	kind := Kind(words[1])
	if (kind == KindVHost || kind == KindConnection) && len(words) > 3 {
		return Kind(words[3])
	}
	return kind
}
