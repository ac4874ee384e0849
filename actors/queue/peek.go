package queue

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/store"

	"github.com/asynkron/protoactor-go/actor"
)

// peeking is an answer to Peek that waits for contents.
type peeking struct {
	asked  *mail.Peek
	reply  *mail.PeekReply
	want   []store.Ref
	at     []int // which of the messages they are for
	bytes  int64 // of contents so far
	closed bool  // enough
}

// peekRead: the contents for a peek were read.
type peekRead struct {
	peek     *peeking
	contents []store.Content
}

// Answer implements mail.Answerable, for who has asked.
func (p peekRead) Answer(f mail.Fate) (*actor.PID, any) { return p.peek.asked.Answer(f) }

// peek shows messages and changes nothing. Contents that are paged out are read for the
// answer alone: they do not come back into memory.
func (s *state) peek(m *mail.Peek) {
	p := &peeking{asked: m, reply: &mail.PeekReply{Reply: m.Done(nil)}}
	states := m.States
	if states == 0 {
		states = mail.Ready | mail.Unacked | mail.Scheduled
	}
	if states&(mail.Ready|mail.Unacked) != 0 && m.After.Due == 0 {
		for _, h := range s.behind(backlog.Spot(m.After.Seq), states, limitOf(m.Limit)+1) {
			if !p.room() {
				break
			}
			s.show(p, h)
			p.reply.Next = &mail.Cursor{Seq: uint64(s.messages.Spot(h))}
		}
	}
	if !p.closed {
		p.reply.Next = nil
	}
	if len(p.want) == 0 {
		s.send(m.ReplyTo, p.reply)
		return
	}
	s.out.peeks = append(s.out.peeks, p)
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
func (s *state) behind(spot backlog.Spot, states mail.MessageState, limit int) []backlog.Handle {
	var found []backlog.Handle
	if states&mail.Ready != 0 {
		s.messages.Behind(spot, func(h backlog.Handle) bool {
			found = append(found, h)
			return len(found) < limit
		})
	}
	if states&mail.Unacked != 0 && s.unacked > 0 {
		all := func(yield func(backlog.Handle) bool) {
			for u := range s.deliveries() {
				if s.messages.Spot(u.message) > spot && !yield(u.message) {
					return
				}
			}
		}
		found = append(found, lowest(all, limit, s.messages.Spot)...)
		slices.SortFunc(found, func(a, b backlog.Handle) int { return cmp.Compare(s.messages.Spot(a), s.messages.Spot(b)) })
		found = found[:min(len(found), limit)]
	}
	return found
}

// lowest returns the limit values with the lowest keys, in their order.
func lowest[T any, K cmp.Ordered](all iter.Seq[T], limit int, key func(T) K) []T {
	var kept []T
	cut := func() {
		slices.SortFunc(kept, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
		kept = kept[:min(len(kept), limit)]
	}
	for v := range all {
		if kept = append(kept, v); len(kept) >= 2*limit+64 {
			cut()
		}
	}
	cut()
	return kept
}

// show adds a message to an answer, or orders what it needs for that.
func (s *state) show(p *peeking, h backlog.Handle) {
	e := s.messages.Entry(h)
	m := mail.PeekedMessage{
		Seq: e.Seq, State: mail.Ready, Priority: s.messages.Priority(h), DeliveryCount: e.DeliveryCount, Redelivered: e.Redelivered,
		Size: s.messages.Size(h), Expires: shownTime(e.Deadline),
	}
	m.Enqueued, _ = s.messages.Times(h)
	if !s.messages.IsReady(h) {
		m.State, m.Locked = mail.Unacked, s.lockOf(h)
	}
	if s.messages.IsPaged(h) {
		p.order(&m, store.Ref{Seq: e.Seq, At: store.Position(s.messages.Place(h))})
		return
	}
	r := s.messages.Get(h)
	s.fill(p, &m, &r)
	p.reply.Messages = append(p.reply.Messages, m)
}

// order adds a message whose content has to be read first.
func (p *peeking) order(m *mail.PeekedMessage, ref store.Ref) {
	p.bytes += m.Size + messageOverhead
	p.want, p.at = append(p.want, ref), append(p.at, len(p.reply.Messages))
	p.reply.Messages = append(p.reply.Messages, *m)
}

// fill gives a message its content as a consumer would get it.
func (s *state) fill(p *peeking, m *mail.PeekedMessage, r *backlog.Record) {
	r.DeliveryCount, r.Enqueued, r.Deadline = m.DeliveryCount, m.Enqueued, m.Expires
	d := s.delivery(r)
	header, err := d.Message.Overlay.Header(r.Header)
	if err != nil {
		header = r.Header
	}
	m.Exchange, m.RoutingKey, m.Header, m.Body = string(r.Exchange), string(r.RoutingKey), header, r.Body
	if cut := p.asked.Cut; cut >= 0 && cut < len(m.Body) {
		m.Body = m.Body[:cut]
	}
	p.bytes += int64(len(m.Body)+len(m.Header)) + messageOverhead
}

// peeked answers with what was read. What is gone meanwhile is left out.
func (s *state) peeked(m peekRead) {
	p := m.peek
	gone := map[int]bool{}
	for i, at := range p.at {
		c, shown := &m.contents[i], &p.reply.Messages[at]
		if c.Err == nil {
			if r, ok := recordOf(&c.Record); ok {
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

// shownTime is a deadline as others see it: 0 for never.
func shownTime(deadline int64) int64 {
	if deadline == store.Never {
		return 0
	}
	return deadline
}
