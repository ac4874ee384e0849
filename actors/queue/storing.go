package queue

import (
	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/records"
	"candlemark/internal/store"
	"candlemark/internal/topology"

	"github.com/asynkron/protoactor-go/actor"
)

// What the shell does with the journal and the budget at the end of a turn.

// journal hands the turn's records over. The answer for a commit comes back as
// mail; nobody waits for records without one.
func (q *queue) journal(ctx actor.Context, list []store.Record, c *records.Commit) {
	id := idOf(q.state.queue)
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
		q.cfg.Journal.Append(idOf(s.queue), []store.Record{store.Naming(name)}, nil)
	}
}

// read orders contents; they come back as mail.
func (q *queue) read(ctx actor.Context) {
	out := &q.state.out
	for i, l := range out.lookups {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		q.cfg.Journal.Read(idOf(q.state.queue), l.want, func(c []store.Content) { root.Send(self, lookedUp{l, c}) })
		out.lookups[i] = nil
		q.reading++
	}
	out.lookups = out.lookups[:0]
	refs, handles := q.state.Pager.Orders()
	if len(refs) == 0 {
		return
	}
	q.reading++
	self, root := ctx.Self(), ctx.ActorSystem().Root
	q.cfg.Journal.Read(idOf(q.state.queue), refs, func(c []store.Content) { root.Send(self, loaded{handles, c}) })
}

// idOf names a queue in the journal.
func idOf(q *topology.Queue) store.QueueID { return store.QueueID(q.Incarnation) }

// account tells the budget what the queue holds.
func (q *queue) account() {
	s := &q.state
	bytes := s.Backlog.Counted() + s.Scheduled.Counted() + s.Duplicates.Bytes() + s.Sessions.Bytes()
	q.cfg.Budget.Add(bytes - q.budgetBytes)
	q.budgetBytes = bytes
	count := int64(s.Backlog.Len() + s.Scheduled.Len())
	q.cfg.Budget.Count(count - q.budgetCount)
	q.budgetCount = count
}

// report logs rare events, and counts what was dropped.
func (q *queue) report() {
	n := &q.state.Notices
	n.Counts(func(why store.Reason, messages uint64) {
		if word := deadletters.Reasons[why]; word != "" && q.cfg.Died != nil {
			q.cfg.Died(word, messages)
		}
	})
	n.Log(q.cfg.Log, q.state.queue.Name)
}
