package vhost

import (
	"strconv"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
)

// A queue is marked down when it panics this often.
const (
	fallsInReplay = 2                // while its messages are read back
	fallsInRow    = 10               // each within fallWindow of its restart
	fallWindow    = 10 * time.Second // in real time
)

// restarts is the vhost's record of a queue that has panicked.
type restarts struct {
	number  int32     // number of its current actor; the first is 1
	falls   int16     // panics while being read back, since it was last open
	row     int16     // panics in a row, each within fallWindow
	began   time.Time // when that actor opened; zero for the first
	opening uint64    // number of the request that asks whether it is open
	newest  uint64    // Newest of its last QueueCrashed
}

// reviver restarts the actors of queues that panicked.
type reviver struct{ *shared }

// crashed handles a QueueCrashed. Commands for the queue wait for the end of its actor and for its restart.
func (r *reviver) crashed(m *mail.QueueCrashed) {
	if q, ok := r.children.of(m.Queue).(*queue); ok {
		q.life.newest = max(q.life.newest, m.Newest)
		if q.phase == live {
			q.phase = crashed
		}
	}
}

// fetched has the messages of a queue in the journal.
type fetched struct {
	queue    *queue
	messages []store.Recovered
	err      error
}

// fetch reads a queue's messages in the journal: as of the journal's opening or, if again is set, now.
func (r *reviver) fetch(q *queue, again bool) {
	if r.cfg.Messages == nil {
		r.fetched(&fetched{queue: q})
		return
	}
	r.out.add(fetching{q, again})
}

// fetched spawns the queue's actor, which sleeps until exchanges, bindings and policies are ready.
func (r *reviver) fetched(m *fetched) {
	q := m.queue
	if m.err != nil {
		r.cfg.Log.Error().Err(m.err).Str("queue", q.queue.Name).Msg("the messages of a queue cannot be read from the journal")
		r.markDown(q)
	} else {
		r.queues.start(q, m.messages, true)
		r.bindings.moveTo(q, r.opens(q))
	}
	if r.recovery != nil {
		r.recovery.started(q)
	}
}

// revive restarts a durable queue that panicked, with a new actor and from the journal (ADR 16).
func (r *reviver) revive(q *queue) {
	l := &q.life
	delete(r.requests.open, l.opening)
	inReplay := q.phase == coming
	q.phase, q.forwarded = coming, 0
	switch {
	case inReplay:
		l.falls++
	case !l.began.IsZero() && r.now.Sub(l.began) < fallWindow:
		l.row++
	default:
		l.row = 1
	}
	if l.falls >= fallsInReplay || l.row >= fallsInRow {
		r.markDown(q)
		return
	}
	r.fetch(q, true)
}

// opens returns a function that opens the current actor of q. A queue without an actor is opened later anyway. The
// function does nothing if the actor has died or is already open, or while the virtual host is not ready.
func (r *reviver) opens(q *queue) func() {
	lives, number := r.queues.lives(q), q.life.number
	return func() {
		_, asked := r.requests.open[q.life.opening]
		if !lives || asked || q.life.number != number || !r.queues.lives(q) || r.recovery != nil && !r.recovery.released {
			return
		}
		request := r.requests.ask(nil, func(_ bool, err error) {
			if err == nil {
				r.opened(q)
			}
		})
		q.life.opening = request.ID
		r.out.send(q.queue.PID, &mail.Activate{Request: request})
	}
}

func (r *reviver) opened(q *queue) {
	q.life.falls, q.life.began = 0, r.now
	if q.life.row > 0 {
		r.cfg.Log.Warn().Str("queue", q.queue.Name).Msg("a queue was restored from the journal after a panic")
	}
	r.queues.comes(q)
}

// renew starts another incarnation of a queue's actor and returns its name.
func (q *queue) renew() string {
	id := childName("queue", q.queue.Name, q.queue.Incarnation)
	if q.life.number++; q.life.number > 1 {
		again := *q.queue
		q.queue = &again
		id += "." + strconv.Itoa(int(q.life.number))
	}
	return id
}

func (q *queue) notifyWaiting() {
	ready := q.ready
	q.ready = nil
	for _, f := range ready {
		f()
	}
}

// markDown replaces a queue's actor with one that refuses everything. Its messages stay in the journal for the next
// start.
func (r *reviver) markDown(q *queue) {
	r.cfg.Log.Error().Str("queue", q.queue.Name).Uint64("incarnation", q.queue.Incarnation).
		Msg("a queue is down: restoring it failed repeatedly; its messages are kept until it is deleted")
	if q.deleting {
		r.queues.forget(q)
		q.notifyWaiting()
		return
	}
	q.phase = down
	id := q.renew()
	r.spawn(r.cfg.NewDown, id, q, &q.queue.PID)
	r.queues.show(q)
	r.bindings.moveTo(q, func() {})
	q.notifyWaiting()
	r.unpark(&q.name)
}

// deleteDown deletes a queue that is down, with all its data.
func (r *reviver) deleteDown(q *queue, d *mail.DeleteQueue) {
	q.phase = forgetting
	r.store(definitions.Change{Delete: []any{queueStored(r.vhost, q.queue)}}, d, func(err error) {
		if err != nil && r.ending == nil {
			q.phase = down
			r.failed(d, err)
			r.unpark(&q.name)
			return
		}
		r.cfg.Log.Warn().Str("queue", q.queue.Name).Msg("a queue that was down is deleted, with all messages of it in the journal")
		q.gone = append(q.gone, func() { r.out.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(nil)}) })
		r.children.forgetChild(q.queue.PID, 0)
		r.out.add(stopping{q.queue.PID})
		r.queues.unpublish(q)
	})
}
