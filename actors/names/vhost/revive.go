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

// crashed handles a QueueCrashed. Commands for the queue wait for the end of its actor and for its restart.
func (qs *queues) crashed(m *mail.QueueCrashed) {
	if q, ok := qs.children.of(m.Queue).(*queue); ok {
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
func (qs *queues) fetch(q *queue, again bool) {
	if qs.cfg.Messages == nil {
		qs.fetched(&fetched{queue: q})
		return
	}
	qs.out.add(fetching{q, again})
}

// fetched spawns the queue's actor, which sleeps until exchanges, bindings and policies are ready.
func (qs *queues) fetched(m *fetched) {
	q := m.queue
	if m.err != nil {
		qs.cfg.Log.Error().Err(m.err).Str("queue", q.queue.Name).Msg("the messages of a queue cannot be read from the journal")
		qs.markDown(q)
	} else {
		qs.start(q, m.messages, true)
		qs.bindings.moveTo(q, qs.opens(q))
	}
	if qs.recovery != nil {
		qs.recovery.started(q)
	}
}

// revive restarts a durable queue that panicked, with a new actor and from the journal (ADR 16).
func (qs *queues) revive(q *queue) {
	l := &q.life
	delete(qs.requests.open, l.opening)
	inReplay := q.phase == coming
	q.phase, q.forwarded = coming, 0
	switch {
	case inReplay:
		l.falls++
	case !l.began.IsZero() && qs.now.Sub(l.began) < fallWindow:
		l.row++
	default:
		l.row = 1
	}
	if l.falls >= fallsInReplay || l.row >= fallsInRow {
		qs.markDown(q)
		return
	}
	qs.fetch(q, true)
}

// opens returns a function that opens the current actor of q. A queue without an actor is opened later anyway. The
// function does nothing if the actor has died or is already open, or while the virtual host is not ready.
func (qs *queues) opens(q *queue) func() {
	lives, number := qs.lives(q), q.life.number
	return func() {
		_, asked := qs.requests.open[q.life.opening]
		if !lives || asked || q.life.number != number || !qs.lives(q) || qs.recovery != nil && !qs.recovery.released {
			return
		}
		r := qs.requests.ask(nil, func(_ bool, err error) {
			if err == nil {
				qs.opened(q)
			}
		})
		q.life.opening = r.ID
		qs.out.send(q.queue.PID, &mail.Activate{Request: r})
	}
}

func (qs *queues) opened(q *queue) {
	q.life.falls, q.life.began = 0, qs.now
	if q.life.row > 0 {
		qs.cfg.Log.Warn().Str("queue", q.queue.Name).Msg("a queue was restored from the journal after a panic")
	}
	qs.comes(q)
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
func (qs *queues) markDown(q *queue) {
	qs.cfg.Log.Error().Str("queue", q.queue.Name).Uint64("incarnation", q.queue.Incarnation).
		Msg("a queue is down: restoring it failed repeatedly; its messages are kept until it is deleted")
	if q.deleting {
		qs.forget(q)
		q.notifyWaiting()
		return
	}
	q.phase = down
	id := q.renew()
	qs.spawn(qs.cfg.NewDown, id, q, &q.queue.PID)
	qs.show(q)
	qs.bindings.moveTo(q, func() {})
	q.notifyWaiting()
	qs.unpark(&q.name)
}

// deleteDown deletes a queue that is down, with all its data.
func (qs *queues) deleteDown(q *queue, d *mail.DeleteQueue) {
	q.phase = forgetting
	qs.store(definitions.Change{Delete: []any{queueStored(qs.vhost, q.queue)}}, d, func(err error) {
		if err != nil && qs.ending == nil {
			q.phase = down
			qs.failed(d, err)
			qs.unpark(&q.name)
			return
		}
		qs.cfg.Log.Warn().Str("queue", q.queue.Name).Msg("a queue that was down is deleted, with all messages of it in the journal")
		q.gone = append(q.gone, func() { qs.out.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(nil)}) })
		qs.children.forgetChild(q.queue.PID, 0)
		qs.out.add(stopping{q.queue.PID})
		qs.unpublish(q)
	})
}
