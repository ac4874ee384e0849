package inspect

import (
	"cmp"
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/paging"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
)

// peeking is an answer to Peek in progress.
type peeking struct {
	View
	asked   *mail.Peek
	reply   *mail.PeekReply
	states  mail.MessageState
	missing missing
	bytes   int64 // bytes of contents so far
	closed  bool  // no more messages fit
}

// Peek lists messages: the messages in the queue, then the scheduled ones.
func (v View) Peek(m *mail.Peek) Query {
	if id := v.Sessions.ByLink(m.Link, m.Connection); m.Session == nil && id != nil {
		of := *m
		of.Session, m = id, &of
	}
	p := &peeking{View: v, asked: m, reply: &mail.PeekReply{Reply: m.Done(nil)}, states: m.States}
	if m.ByDeadline {
		return p.byDeadline()
	}
	if p.states == 0 {
		p.states = mail.Ready | mail.Unacked | mail.Scheduled | mail.Deferred
	}
	if m.ByNumber {
		return p.byNumber()
	}
	if m.After.Due != 0 {
		p.states &^= mail.Ready | mail.Unacked | mail.Deferred
	}
	spot := backlog.Spot(m.After.Seq)
	unacked := lowest[backlog.Handle]{limit: limitOf(m.Limit) + 1, compare: by(v.Messages.Spot)}
	add := func(h backlog.Handle) {
		if v.Messages.Spot(h) > spot {
			unacked.add(h)
		}
	}
	deferred := p.deferred(0, add)
	q := Query{Step: deferred, Answer: func() Answer { return p.answer(unacked.list()) }}
	if p.states&mail.Unacked != 0 && v.Consumers.Unacked() > 0 {
		all := v.Consumers.Scan(v.Limit)
		q.Step = func() bool {
			return all.Step(func(u consumers.Unsettled) { add(u.Message) }) && deferred()
		}
	}
	return q
}

// deferred iterates over the deferred messages with numbers above after, some at a time.
func (p *peeking) deferred(after uint64, add func(backlog.Handle)) (step func() (done bool)) {
	return func() bool {
		n := 0
		if p.states&mail.Deferred != 0 {
			p.Deferred.From(after, func(h backlog.Handle) bool {
				add(h)
				after = p.Messages.Seq(h)
				n++
				return n < p.Limit
			})
		}
		return n < p.Limit
	}
}

// answer returns the answer. unacked are the first messages after the spot other than ready ones.
func (p *peeking) answer(unacked []backlog.Handle) Answer {
	m := p.asked
	if p.states&(mail.Ready|mail.Unacked|mail.Deferred) != 0 {
		p.queue(unacked)
	}
	if p.states&mail.Scheduled != 0 && p.Scheduled != nil {
		after := m.After
		if after.Due == 0 {
			after.Seq = 0
		}
		p.scheduled(after)
	}
	return p.finished()
}

func (p *peeking) finished() Answer {
	if !p.closed {
		p.reply.Next = nil
	}
	return Answer{To: p.asked.ReplyTo, Reply: p.reply, Want: p.missing.refs(), Found: p.read}
}

// queue lists messages in the queue after a spot.
func (p *peeking) queue(unacked []backlog.Handle) {
	for _, h := range p.behind(unacked) {
		if !p.room() {
			return
		}
		p.showQueued(h)
		p.reply.Next = &mail.Cursor{Seq: uint64(p.Messages.Spot(h))}
	}
}

// showQueued adds a message of the queue.
func (p *peeking) showQueued(h backlog.Handle) {
	m := p.entry(p.Messages, h)
	m.State, m.Deferred = mail.Ready, p.Messages.Entry(h).Marks&backlog.Deferred != 0
	if at, deferred := p.Deferred.Find(m.Seq); deferred && at == h {
		m.State = mail.Deferred
	} else if !p.Messages.IsReady(h) {
		m.State, m.Locked = mail.Unacked, p.wall(p.AckTimeouts.Until(h))
	}
	p.show(p.Messages, h, m)
}

// scheduled lists scheduled messages after a position in the order of release.
func (p *peeking) scheduled(after mail.Cursor) {
	x := p.Scheduled
	x.Behind(after.Due, after.Seq, func(h backlog.Handle) bool {
		if !p.room() {
			return false
		}
		p.showScheduled(h)
		p.reply.Next = &mail.Cursor{Due: x.Messages.Backlog.Deadline(h), Seq: x.Messages.Backlog.Seq(h)}
		return true
	})
}

// showScheduled adds a scheduled message.
func (p *peeking) showScheduled(h backlog.Handle) {
	b := &p.Scheduled.Messages.Backlog
	m := p.entry(b, h)
	m.State, m.Due, m.Expires, m.Returns = mail.Scheduled, m.Expires, 0, 0
	p.show(b, h, m)
}

// room reports whether another message fits into the answer.
func (p *peeking) room() bool {
	p.closed = p.closed || len(p.reply.Messages) >= limitOf(p.asked.Limit) || p.bytes >= mail.PeekBytes
	return !p.closed
}

// behind returns the first messages after a spot, in queue order.
func (p *peeking) behind(unacked []backlog.Handle) []backlog.Handle {
	limit := limitOf(p.asked.Limit) + 1
	list := unacked
	if p.states&mail.Ready != 0 {
		n := 0
		p.Messages.Behind(backlog.Spot(p.asked.After.Seq), func(h backlog.Handle) bool {
			list = append(list, h)
			n++
			return n < limit
		})
	}
	slices.SortFunc(list, func(a, b backlog.Handle) int { return cmp.Compare(p.Messages.Spot(a), p.Messages.Spot(b)) })
	return list[:min(len(list), limit)]
}

// entry returns the fields known from a message's backlog entry.
func (p *peeking) entry(b *backlog.Backlog, h backlog.Handle) mail.PeekedMessage {
	e := b.Entry(h)
	enqueued, _ := b.Times(h)
	deadline := e.Deadline // of a scheduled message, when it is due
	if b == p.Messages {
		deadline = p.Expiry.Present(h)
	}
	return mail.PeekedMessage{
		Seq: e.Seq, Priority: b.Priority(h), Returns: e.Returns, Redelivered: e.Redelivered,
		Size: b.Size(h), Enqueued: p.Style.Dates.Date(enqueued), Expires: p.wall(deadline),
	}
}

// show adds a message to the answer, with its content unless the content must be read first.
func (p *peeking) show(b *backlog.Backlog, h backlog.Handle, m mail.PeekedMessage) {
	if b.IsPaged(h) {
		p.bytes += m.Size + paging.Overhead
		p.missing.add(b, h, len(p.reply.Messages))
	} else {
		var r backlog.Record
		b.Get(h, &r)
		p.fill(&m, &r)
	}
	p.reply.Messages = append(p.reply.Messages, m)
}

// fill adds the content of a message as a consumer would get it.
func (p *peeking) fill(m *mail.PeekedMessage, r *backlog.Record) {
	r.Returns, r.Enqueued, r.Deadline = m.Returns, p.Style.Dates.Deadline(m.Enqueued), store.Never
	if m.Expires != 0 {
		r.Deadline = p.Style.Dates.Deadline(m.Expires)
	}
	var d mail.Delivery
	p.Style.Deliver(&d, r)
	if o := d.Message.Overlay; o != nil {
		m.DiedAfter = o.DiedAfter
	}
	header, err := d.Message.Overlay.Header(r.Header)
	if err != nil {
		header = r.Header
	}
	m.Exchange, m.RoutingKey, m.Header, m.Body = string(r.Exchange), string(r.RoutingKey), header, r.Body
	if cut := p.asked.Cut; cut >= 0 && cut < len(m.Body) {
		m.Body = m.Body[:cut]
	}
	if p.asked.Whole {
		m.Message = d.Message
		p.bytes += int64(len(r.Header)) // with the headers of the original
	}
	p.bytes += int64(len(m.Body)+3*(len(m.Header)+len(m.Exchange)+len(m.RoutingKey))) + paging.Overhead
}

// read adds contents read from the journal.
func (p *peeking) read(contents []store.Content) {
	p.reply.Messages = found(p.missing, p.reply.Messages, contents, func(m *mail.PeekedMessage, c *store.Content) {
		if c.Err == nil {
			if r, ok := content.Read(&c.Record); ok {
				r.Released = c.Record.Due != 0 && m.State != mail.Scheduled
				p.fill(m, &r)
				return
			}
		}
		m.Unreadable = true
	})
}
