package queue

import (
	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/records"
	"candlemark/internal/store"

	"github.com/asynkron/protoactor-go/actor"
)

// What the shell does with the journal and the budget at the end of a turn.

// journal hands the turn's records over. The answer for a commit comes back as
// mail; nobody waits for records without one.
func (q *queue) journal(ctx actor.Context, list []store.Record, c *records.Commit) {
	id := q.state.id()
	if c != nil {
		q.recordName()
		self, root := ctx.Self(), ctx.ActorSystem().Root
		q.cfg.Journal.Append(id, list, func(err error) { root.Send(self, appendDone{c, err}) })
	} else if len(list) > 0 {
		q.cfg.Journal.Append(id, list, nil)
	}
}

// recordName has the journal know what people call the queue, ahead of its first message
// and so not later than that is durable. The journal writes what it does not know.
func (q *queue) recordName() {
	s := &q.state
	if q.named {
		return
	}
	q.named = true
	if s.queue.Durable && s.vhost != nil {
		name := store.Name{VHost: s.vhost.Name, Queue: s.queue.Name}
		q.cfg.Journal.Append(s.id(), []store.Record{store.Naming(name)}, nil)
	}
}

// read orders contents; they come back as mail.
func (q *queue) read(ctx actor.Context) {
	out := &q.state.out
	for i, l := range out.lookups {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		q.cfg.Journal.Read(q.state.id(), l.want, func(c []store.Content) { root.Send(self, lookedUp{l, c}) })
		out.lookups[i] = nil
	}
	out.lookups = out.lookups[:0]
	refs, handles := q.state.pager.Orders()
	if len(refs) == 0 {
		return
	}
	self, root := ctx.Self(), ctx.ActorSystem().Root
	q.cfg.Journal.Read(q.state.id(), refs, func(c []store.Content) { root.Send(self, loaded{handles, c}) })
}

// id names the queue in the journal.
func (s *state) id() store.QueueID { return store.QueueID(s.queue.Incarnation) }

// account tells the budget what the queue holds.
func (q *queue) account() {
	bytes := q.state.bytes()
	q.cfg.Budget.Add(bytes - q.budgetBytes)
	q.budgetBytes = bytes
	count := q.state.count()
	q.cfg.Budget.Count(count - q.budgetCount)
	q.budgetCount = count
}

// count is how many messages there are, wherever their contents are.
func (s *state) count() int64 {
	n := s.messages.Len()
	if x := s.scheduled; x != nil {
		n += x.Messages.Len()
	}
	return int64(n)
}

// bytes are those of contents in memory, but for large ones, which count for all who
// share them.
func (s *state) bytes() int64 {
	n := s.messages.Counted()
	if x := s.scheduled; x != nil {
		n += x.Messages.Counted()
	}
	return n
}

// report logs what the disk has done to the queue, and counts what was dropped.
func (q *queue) report() {
	s := &q.state
	if s.out.dropped != (dropCounts{}) {
		for why, n := range s.out.dropped {
			if word := deadletters.Reasons[store.Reason(why)]; n > 0 && word != "" && q.cfg.Died != nil {
				q.cfg.Died(word, uint64(n))
			}
		}
		s.out.dropped = dropCounts{}
	}
	if r := s.out.rare; r != nil {
		s.out.rare = nil
		q.reportRare(r)
	}
}

func (q *queue) reportRare(r *rareEvents) {
	s := &q.state
	if r.overdue > 0 {
		q.cfg.Log.Warn().Str("queue", s.queue.Name).Int("messages", r.overdue).Str("overdue-messages", s.settings.OverdueMessages).
			Msg("scheduled messages came due while the broker was down, and were given up")
	}
	if r.purged > 0 {
		q.cfg.Log.Info().Str("queue", s.queue.Name).Int("messages", r.purged).Msg("scheduled messages were dropped before their time")
	}
	if n := len(r.damaged); n > 0 {
		q.cfg.Log.Error().Str("queue", s.queue.Name).Int("messages", n).Uint64("first", r.damaged[0]).
			Uint64("last", r.damaged[n-1]).Msg("messages are damaged in the journal, and lost")
	}
	if r.unread != nil {
		q.cfg.Log.Error().Str("queue", s.queue.Name).Err(r.unread).Msg("messages cannot be read from the journal; trying again")
	}
	if r.broke {
		q.cfg.Log.Error().Str("queue", s.queue.Name).Err(s.journal.Err()).Msg("the journal failed; persistent messages are refused")
	}
}
