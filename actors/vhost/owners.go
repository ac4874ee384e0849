package vhost

import "candlemark/actors/mail"

// addOwner notes the owner of an exclusive queue and watches it, so that a connection
// that died in whatever way releases its queues.
func (v *vhost) addOwner(q *queue) {
	pid := q.queue.Owner
	if pid == nil {
		return
	}
	o := v.owners[pid.Id]
	if o == nil {
		o = &owner{pid: pid, queues: map[*queue]struct{}{}}
		v.owners[pid.Id] = o
		v.ctx.Watch(pid)
	}
	o.queues[q] = struct{}{}
}

// removeOwner is called when a queue is gone.
func (v *vhost) removeOwner(q *queue) {
	if q.queue.Owner == nil {
		return
	}
	id := q.queue.Owner.Id
	o := v.owners[id]
	delete(o.queues, q)
	if len(o.queues) == 0 {
		delete(v.owners, id)
		mail.Unwatch(v.ctx, o.pid)
	}
}

func (v *vhost) releaseConnection(m *mail.ReleaseConnection) {
	done := func() { v.reply(m.Request, &mail.ConnectionReleased{Reply: m.Done(nil)}) }
	if o := v.owners[m.Connection.Id]; o != nil {
		v.releaseOwner(o, done)
		return
	}
	done()
}

// releaseOwner ends the exclusive queues of a connection and calls done, unless
// nil, when they are forgotten.
func (v *vhost) releaseOwner(o *owner, done func()) {
	if done == nil {
		done = func() {}
	}
	g := newBarrier(done)
	for q := range o.queues {
		g.begin()
		q.gone = append(q.gone, g.end)
		q.deleting = true
		if q.phase == live {
			v.end(q, &mail.DeleteQueue{Name: q.queue.Name, VHost: v.cfg.VHost.Name})
		}
	}
	g.end()
}
