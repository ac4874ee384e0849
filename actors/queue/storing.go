package queue

import (
	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/records"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"

	"github.com/asynkron/protoactor-go/actor"
)

// Journal and budget at the end of a turn.

// journal appends the turn's records. An appendDone follows if there is a commit, or the gate waits for the end.
func (q *queue) journal(ctx actor.Context, list []store.Record, c *records.Commit, gated bool) {
	id := idOf(q.state.queue)
	if c != nil {
		q.recordName()
	}
	if c != nil || gated {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		q.cfg.Journal.Append(id, list, func(err error) { root.Send(self, appendDone{c, err, gated}) })
	} else if len(list) > 0 {
		q.cfg.Journal.Append(id, list, nil)
	}
}

// recordName writes the queue's name to the journal, ahead of its first message, so that the name is durable no later
// than the message. The journal skips a name that it knows.
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

// read requests contents; they arrive as mail.
func (q *queue) read(ctx actor.Context) {
	out := &q.state.out
	for _, l := range out.lookups.List {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		q.cfg.Journal.Read(idOf(q.state.queue), l.Want, func(c []store.Content) { root.Send(self, &deliveries.LookedUp{Lookup: l, Contents: c}) })
		q.reading++
	}
	clear(out.lookups.List)
	out.lookups.List = out.lookups.List[:0]
	refs, handles, bytes := q.state.messages.Pager.Orders()
	if len(refs) == 0 {
		return
	}
	q.reading++
	self, root := ctx.Self(), ctx.ActorSystem().Root
	q.cfg.Journal.Read(idOf(q.state.queue), refs, func(c []store.Content) { root.Send(self, loaded{handles, c, bytes}) })
}

// idOf returns the queue's id in the journal.
func idOf(q *topology.Queue) store.QueueID { return store.QueueID(q.Incarnation) }

// account updates the queue's share of the memory budget by its figures.
func (q *queue) account(f *figures) {
	s := &q.state
	reading := s.messages.Pager.Reading()
	q.share.Set(budget.Share{
		Bytes: f.counted + reading, Reading: reading, Messages: int64(s.messages.Backlog.Len() + f.held), Notes: f.notes,
	}, q.cfg.Budget, q.notes)
}

// report logs rare events and counts dropped messages.
func (q *queue) report() {
	n := &q.state.messages.Notices
	n.Counts(func(why store.Reason, messages uint64) {
		if word := deadletters.Reasons[why]; word != "" && q.cfg.Died != nil {
			q.cfg.Died(word, messages)
		}
	})
	n.Log(q.cfg.Log, q.state.queue.Name)
}
