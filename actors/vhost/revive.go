package vhost

import (
	"strconv"
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/store"
)

// A queue is down for good when it panics so often.
const (
	fallsInReplay = 2                // while its messages are read back
	fallsInRow    = 10               // each within fallWindow of its return
	fallWindow    = 10 * time.Second // real time
)

// restarts is the vhost's record of a queue that has panicked.
type restarts struct {
	number  int       // of the actor that it lives in; the first is 1
	began   time.Time // when that actor was opened; zero for the first
	falls   int       // in replay, since it was last open
	row     int       // within fallWindow, in a row
	opening uint64    // number of the question whether it is open
	newest  uint64    // number of a message, when it panicked
}

// queueCrashed notes what a queue that panicked knew last. Commands for it wait until
// its end is known, and whether it comes back.
func (v *vhost) queueCrashed(m *mail.QueueCrashed) {
	if q, ok := v.children[m.Queue.Id].(*queue); ok {
		q.life.newest = max(q.life.newest, m.Newest)
		if q.phase == live {
			q.phase = crashed
		}
	}
}

// fetched: what the journal has of a queue.
type fetched struct {
	queue    *queue
	messages []store.Recovered
	err      error
}

// fetch reads what the journal has of a queue: when it was opened or, again,
// now.
func (v *vhost) fetch(q *queue, again bool) {
	if v.cfg.Messages == nil {
		v.fetched(&fetched{queue: q})
		return
	}
	self, root := v.ctx.Self(), v.ctx.ActorSystem().Root
	v.cfg.Messages(store.QueueID(q.queue.Incarnation), again, func(list []store.Recovered, err error) {
		root.Send(self, &fetched{q, list, err})
	})
}

// fetched makes the queue's actor, which waits until everything around it is
// there.
func (v *vhost) fetched(m *fetched) {
	q := m.queue
	if m.err != nil {
		v.cfg.Log.Error().Err(m.err).Str("queue", q.queue.Name).Msg("the messages of a queue cannot be read back")
		v.markDown(q)
	} else {
		v.startQueue(q, m.messages, true)
		v.moveBindings(q, v.opens(q))
	}
	if v.recovery != nil {
		v.started(q)
	}
}

// revive has a durable queue that panicked live on in another actor, from what
// the journal has (ADR 16).
func (v *vhost) revive(q *queue) {
	l := &q.life
	delete(v.questions, l.opening)
	inReplay := q.phase == coming
	q.phase, q.forwarded = coming, 0
	switch {
	case inReplay:
		l.falls++
	case !l.began.IsZero() && time.Since(l.began) < fallWindow:
		l.row++
	default:
		l.row = 1
	}
	if l.falls >= fallsInReplay || l.row >= fallsInRow {
		v.markDown(q)
		return
	}
	v.fetch(q, true)
}

// moveBindings has the bindings to a queue lead to its present actor.
func (v *vhost) moveBindings(q *queue, done func()) {
	g := newBarrier(done)
	for x := range q.sources {
		g.begin()
		r := v.ask(x, func(bool, error) { g.end() })
		v.ctx.Send(x.exchange.PID, &mail.MoveDestination{Request: r, To: q.queue})
	}
	g.end()
}

// opens opens the actor that q lives in at present. One that has none yet
// comes by itself; so does nothing for an actor that has died before, or was asked
// to open, or while the virtual host is not ready for it.
func (v *vhost) opens(q *queue) func() {
	in := v.child(q)
	pid := q.queue.PID
	return func() {
		_, asked := v.questions[q.life.opening]
		if in == nil || asked || q.queue.PID != pid || v.child(q) == nil || v.recovery != nil && !v.recovery.released {
			return
		}
		r := v.ask(nil, func(_ bool, err error) {
			if err == nil {
				v.queueOpened(q)
			}
		})
		q.life.opening = r.ID
		v.ctx.Send(pid, &mail.Wake{Request: r})
	}
}

func (v *vhost) queueOpened(q *queue) {
	q.life.falls, q.life.began = 0, time.Now()
	if q.life.row > 0 {
		v.cfg.Log.Warn().Str("queue", q.queue.Name).Msg("a queue that panicked is back with what the journal had of it")
	}
	v.comes(q)
}

func (q *queue) tellReady() {
	ready := q.ready
	q.ready = nil
	for _, f := range ready {
		f()
	}
}

// markDown puts something in the place of a queue that refuses everything. Its
// messages stay in the journal, to be tried again at the next start.
func (v *vhost) markDown(q *queue) {
	v.cfg.Log.Error().Str("queue", q.queue.Name).Uint64("incarnation", q.queue.Incarnation).
		Msg("a queue is down: it fails whenever its messages are read back; they are kept until it is deleted")
	if q.deleting {
		v.forgetQueue(q)
		q.tellReady()
		return
	}
	q.phase = down
	q.life.number++
	standIn := *q.queue
	q.queue = &standIn
	name := childName("queue", standIn.Name, standIn.Incarnation) + "." + strconv.Itoa(q.life.number)
	standIn.PID = v.spawn(v.cfg.NewDown(), name, q)
	v.show(q)
	v.moveBindings(q, func() {})
	q.tellReady()
	v.unpark(&q.name)
}

// deleteDown deletes a queue that is down, with all that it has.
func (v *vhost) deleteDown(q *queue, d *mail.DeleteQueue) {
	q.phase = forgetting
	v.store(definitions.Change{Delete: []any{v.queueStored(q.queue)}}, d, func(err error) {
		if err != nil && v.ending == nil {
			q.phase = down
			v.failed(d, err)
			v.unpark(&q.name)
			return
		}
		q.gone = append(q.gone, func() { v.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(nil)}) })
		delete(v.children, q.queue.PID.Id)
		v.ctx.Stop(q.queue.PID)
		v.unpublishQueue(q)
	})
}
