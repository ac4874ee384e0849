package queue

import (
	"cmp"
	"errors"
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// peeking is an answer to Peek that waits for contents.
type peeking struct {
	asked  *mail.Peek
	reply  *mail.PeekReply
	states mail.MessageState
	want   []store.Ref
	at     []int // which of the messages they are for
	bytes  int64 // of contents so far
	closed bool  // enough
}

// peek shows messages and changes nothing: those in the queue, then the scheduled ones.
func (s *state) peek(m *mail.Peek, now clock.Instant) {
	p := &peeking{asked: m, reply: &mail.PeekReply{Reply: m.Done(nil)}, states: m.States}
	if p.states == 0 {
		p.states = mail.Ready | mail.Unacked | mail.Scheduled
	}
	if m.After.Due != 0 {
		p.states &^= mail.Ready | mail.Unacked
	}
	spot := backlog.Spot(m.After.Seq)
	found := lowest[backlog.Handle, backlog.Spot]{limit: limitOf(m.Limit) + 1, key: s.messages.Spot}
	w := &work{
		expires: true, asked: m,
		step: func(clock.Instant) bool { return true },
		end:  func(clock.Instant) { s.peekAll(p, found.list()) },
	}
	if p.states&mail.Unacked != 0 && s.consumers.Unacked() > 0 {
		all := s.consumers.Scan(int(s.turnMost))
		w.step = func(clock.Instant) bool {
			return all.Step(func(u consumers.Unsettled) {
				if s.messages.Spot(u.Message) > spot {
					found.add(u.Message)
				}
			})
		}
	}
	s.startWork(w, now)
}

// peekAll answers, or orders what it needs for that. unacked are the first of those
// behind the spot.
func (s *state) peekAll(p *peeking, unacked []backlog.Handle) {
	m := p.asked
	if p.states&(mail.Ready|mail.Unacked) != 0 {
		s.peekQueue(p, unacked)
	}
	if p.states&mail.Scheduled != 0 && s.scheduled != nil {
		after := m.After
		if after.Due == 0 {
			after.Seq = 0
		}
		s.peekScheduled(p, after)
	}
	if !p.closed {
		p.reply.Next = nil
	}
	if len(p.want) == 0 {
		s.send(m.ReplyTo, p.reply)
		return
	}
	s.out.lookups = append(s.out.lookups, &lookup{asked: m, want: p.want, found: func(contents []store.Content, _ clock.Instant) {
		s.peeked(p, contents)
	}})
}

// peekQueue shows what is in the queue behind a spot.
func (s *state) peekQueue(p *peeking, unacked []backlog.Handle) {
	for _, h := range s.behind(p, unacked) {
		if !p.room() {
			return
		}
		m := s.shown(&s.messages, h)
		m.State = mail.Ready
		if !s.messages.IsReady(h) {
			m.State, m.Locked = mail.Unacked, s.lockedUntil(h)
		}
		s.show(p, &s.messages, h, m)
		p.reply.Next = &mail.Cursor{Seq: uint64(s.messages.Spot(h))}
	}
}

// peekScheduled shows what waits behind a place in the order of release.
func (s *state) peekScheduled(p *peeking, after mail.Cursor) {
	x := s.scheduled
	x.Behind(after.Due, after.Seq, func(h backlog.Handle) bool {
		if !p.room() {
			return false
		}
		m := s.shown(&x.Messages.Backlog, h)
		m.State, m.Due, m.Expires, m.DeliveryCount = mail.Scheduled, m.Expires, 0, 0
		s.show(p, &x.Messages.Backlog, h, m)
		p.reply.Next = &mail.Cursor{Due: x.Messages.Deadline(h), Seq: m.Seq}
		return true
	})
}

// limitOf is how many messages an answer has that was limited to n.
func limitOf(n int) int {
	if n < 1 || n > mail.MostPeeked {
		return mail.MostPeeked
	}
	return n
}

// room tells whether the answer takes one more.
func (p *peeking) room() bool {
	p.closed = p.closed || len(p.reply.Messages) >= limitOf(p.asked.Limit) || p.bytes >= mail.PeekBytes
	return !p.closed
}

// behind are the first messages behind a spot, in the order of the queue.
func (s *state) behind(p *peeking, unacked []backlog.Handle) []backlog.Handle {
	limit := limitOf(p.asked.Limit) + 1
	found := unacked
	if p.states&mail.Ready != 0 {
		n := 0
		s.messages.Behind(backlog.Spot(p.asked.After.Seq), func(h backlog.Handle) bool {
			found = append(found, h)
			n++
			return n < limit
		})
	}
	slices.SortFunc(found, func(a, b backlog.Handle) int { return cmp.Compare(s.messages.Spot(a), s.messages.Spot(b)) })
	return found[:min(len(found), limit)]
}

// lowest keeps the limit values with the lowest keys.
type lowest[T any, K cmp.Ordered] struct {
	limit int
	key   func(T) K
	kept  []T
}

func (l *lowest[T, K]) add(v T) {
	if l.kept = append(l.kept, v); len(l.kept) >= 2*l.limit+64 {
		l.list()
	}
}

// list returns them in their order.
func (l *lowest[T, K]) list() []T {
	slices.SortFunc(l.kept, func(a, b T) int { return cmp.Compare(l.key(a), l.key(b)) })
	l.kept = l.kept[:min(len(l.kept), l.limit)]
	return l.kept
}

// shown returns what an entry tells of a message.
func (s *state) shown(b *backlog.Backlog, h backlog.Handle) mail.PeekedMessage {
	e := b.Entry(h)
	enqueued, _ := b.Times(h)
	return mail.PeekedMessage{
		Seq: e.Seq, Priority: b.Priority(h), DeliveryCount: e.DeliveryCount, Redelivered: e.Redelivered,
		Size: b.Size(h), Enqueued: enqueued + s.skew, Expires: s.wall(e.Deadline),
	}
}

// show adds a message to an answer, or orders what it needs for that.
func (s *state) show(p *peeking, b *backlog.Backlog, h backlog.Handle, m mail.PeekedMessage) {
	if b.IsPaged(h) {
		p.bytes += m.Size + messageOverhead
		p.want = append(p.want, store.Ref{Seq: m.Seq, At: store.Position(b.Place(h))})
		p.at = append(p.at, len(p.reply.Messages))
	} else {
		r := b.Get(h)
		s.fill(p, &m, &r)
	}
	p.reply.Messages = append(p.reply.Messages, m)
}

// fill gives a message its content as a consumer would get it.
func (s *state) fill(p *peeking, m *mail.PeekedMessage, r *backlog.Record) {
	r.DeliveryCount, r.Enqueued, r.Deadline = m.DeliveryCount, m.Enqueued-s.skew, store.Never
	if m.Expires != 0 {
		r.Deadline = m.Expires - s.skew
	}
	d := s.style().Delivery(r)
	header, err := d.Message.Overlay.Header(r.Header)
	if err != nil {
		header = r.Header
	}
	m.Exchange, m.RoutingKey, m.Header, m.Body = string(r.Exchange), string(r.RoutingKey), header, r.Body
	if cut := p.asked.Cut; cut >= 0 && cut < len(m.Body) {
		m.Body = m.Body[:cut]
	}
	p.bytes += int64(len(m.Body)+3*(len(m.Header)+len(m.Exchange)+len(m.RoutingKey))) + messageOverhead
}

// peeked answers with what was read. What is gone meanwhile is left out.
func (s *state) peeked(p *peeking, contents []store.Content) {
	gone := map[int]bool{}
	for i, at := range p.at {
		c, shown := &contents[i], &p.reply.Messages[at]
		if c.Err == nil {
			if r, ok := content.Read(&c.Record); ok {
				r.Released = c.Record.Due != 0 && shown.State != mail.Scheduled
				s.fill(p, shown, &r)
				continue
			}
		}
		shown.Unreadable, gone[at] = true, errors.Is(c.Err, store.ErrUnknown)
	}
	kept := p.reply.Messages[:0]
	for at := range p.reply.Messages {
		if !gone[at] {
			kept = append(kept, p.reply.Messages[at])
		}
	}
	p.reply.Messages = kept
	s.send(p.asked.ReplyTo, p.reply)
}

// wall is a deadline of the broker's time by the wall clock (ADR 19), 0 for never.
func (s *state) wall(deadline int64) int64 {
	if deadline == store.Never || deadline == 0 {
		return 0
	}
	return deadline + s.skew
}
