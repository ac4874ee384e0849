package vhost

import (
	"maps"
	"slices"

	"candlemark/actors/mail"
	"candlemark/internal/topology"
)

// deleteAll begins the end of the virtual host. Every queue says its farewell,
// so that whoever waits for one gets an answer; exchanges have nothing to say
// and end with the actor.
func (v *vhost) deleteAll(m *mail.EndVHost) {
	if v.ending != nil {
		return // there is one root, which asks once
	}
	v.ending = m
	g := newBarrier(func() {
		v.deleted = true
		v.leave()
	})
	for _, q := range slices.Collect(maps.Values(v.queues)) {
		g.begin()
		q.gone = append(q.gone, g.end)
		v.deleteWithVHost(q, mail.Request{})
	}
	g.end()
}

// deleteWithVHost ends a queue that nothing keeps.
func (v *vhost) deleteWithVHost(q *queue, r mail.Request) {
	q.deleting = true
	d := &mail.DeleteQueue{Request: r, Name: q.queue.Name, VHost: v.cfg.VHost.Name}
	switch q.phase {
	case live:
		v.end(q, d)
	case down:
		v.deleteDown(q, d)
	case ending, forgetting, coming, crashed: // that is known, or seen when it comes
	}
}

// refuse answers commands that come, or were parked, when nothing is made or
// found any more.
func (v *vhost) refuse(what any) bool {
	if !command(what) {
		return false
	}
	mail.AnswerAll(v.ctx, []any{what}, mail.Gone)
	return true
}

// command tells whether a mail is a command about a name.
func command(what any) bool {
	switch what.(type) {
	case *mail.DeclareQueue, *mail.DeleteQueue, *mail.AwaitQueue, *mail.DeclareExchange, *mail.DeleteExchange, *mail.Bind, *mail.Unbind:
		return true
	}
	return false
}

// leave stops the actor once no queue is left, also none that still has mail to
// answer: stopping the parent would overtake that (PRO-1).
func (v *vhost) leave() {
	if !v.deleted || v.stopping || len(v.ctx.Children()) > len(v.children) {
		return
	}
	v.stopping = true
	for _, x := range slices.Collect(maps.Values(v.exchanges)) {
		v.answerFor(x)
		v.unpark(&x.name)
	}
	v.publish(&topology.Directory{})
	v.reply(v.ending.Request, &mail.VHostEnded{Reply: v.ending.Done(nil)})
	if v.cfg.Close != nil {
		mail.AnswerAll(v.ctx, v.cfg.Close(), mail.Gone)
	}
	v.ctx.Stop(v.ctx.Self())
}
