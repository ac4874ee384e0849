package republish

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// maxUnanswered is the number of unanswered copies of messages with several targets above which no more are made.
const maxUnanswered = 1 << 15

// askAgain: held messages may get permission to be copied, or no longer need it.
type askAgain struct{}

// divided caches the last overlay of a copied message: messages of one batch usually have the same history, and then
// share an overlay.
type divided struct {
	before, after *message.Overlay
	each          uint32
}

// receivers counts the targets of a message that get it now, and Enlarged of all.
func (b *batch) receivers(m *message.Message, targets []*topology.Queue, has func(mail.Target) bool) (n, enlarged int) {
	for _, q := range targets {
		if (has == nil || !has(mail.TargetOf(q))) && !b.closesCycle(m, q) {
			n++
			enlarged += q.Enlarged(len(m.Header), len(targets) > 1)
		}
	}
	return n, enlarged
}

// closesCycle reports whether sending a message to a queue would close a cycle (DL-25).
func (b *batch) closesCycle(m *message.Message, q *topology.Queue) bool {
	return !b.Release && !b.Forward && !b.Replay && m.Overlay.Cycle(q.Name)
}

// admit decides whether a message may be sent to its targets now, besides the had queues that have taken it earlier, and
// divides the copies that it may still have among them. If not, the message is settled because there would be too many
// copies (DL-32), or its batch is held until it gets permission (DL-33).
func (s *state) admit(b *batch, l *pendingMessage, m *message.Message, targets []*topology.Queue, has func(mail.Target) bool, had int) bool {
	n, enlarged := b.receivers(m, targets, has)
	all := n + had
	if n == 0 || all == 1 && enlarged == 0 {
		return true
	}
	published := b.Release && (m.Overlay == nil || !m.Overlay.Copied) // it is the publish, delayed
	each, ok := message.ShareOf(m.Copies(), all)
	if !ok && !published {
		s.exceeded(b, l, all)
		return false
	}
	if copies := n - 1 + enlarged; copies > 0 && !s.permits(b, copies) {
		b.held = true
		return false
	}
	switch {
	case all == 1:
		return true
	case published:
		m.AddSpread(all)
		return true
	}
	if d := &s.router.divided; d.after == nil || d.before != m.Overlay || d.each != each {
		*d = divided{m.Overlay, m.Overlay.WithCopies(each), each}
	}
	m.Overlay = s.router.divided.after
	return true
}

// permits reports whether a message of b may have that many copies now. Held messages come first.
func (s *state) permits(b *batch, copies int) bool {
	if copies > b.permitted && (len(s.sources.held) > 0 || !s.mayCopy(copies-b.permitted)) {
		b.copies = copies
		return false
	}
	b.permitted = 0
	return true
}

// mayCopy asks for copies. If the answer is no, held batches ask again later.
func (s *state) mayCopy(copies int) bool {
	if s.unanswered >= maxUnanswered {
		return false // answers follow
	}
	if s.price.Ask(copies) {
		return true
	}
	s.awaitPrice()
	return false
}

// awaitPrice requests an askAgain.
func (s *state) awaitPrice() {
	s.out.await = s.out.await || !s.awaiting
	s.awaiting = true
}

// hold counts a source whose turn has ended with a held message.
func (s *state) hold(x *source) {
	s.stats.Waiting.Add(1)
	if s.warnings.may(waits, s.now) {
		b := x.batches[0]
		s.warnings.line(s.log, waits).Str("queue", b.Queue).Str("exchange", b.Exchange).Int("queues", b.copies+1).
			Msg("messages for several queues stay in their queue: memory or disk space for copies is low")
	}
}

// releaseHeld makes held sources proceed that get permission, in order, or all of them if the topology has changed: their
// messages may have other targets.
func (s *state) releaseHeld() {
	n, held := 0, s.sources.held
	if g := s.vhost.Generation(); g != s.heldAt {
		s.heldAt, n = g, len(held)
		for _, x := range held {
			x.batches[0].found = nil
		}
	}
	for n < len(held) && s.mayCopy(held[n].batches[0].copies) {
		held[n].batches[0].permitted = held[n].batches[0].copies
		n++
	}
	if n == 0 {
		return
	}
	s.stats.Waiting.Add(-int64(n))
	if s.sources.release(n); !s.continuing {
		s.step()
	}
}

// again handles askAgain.
func (s *state) again() {
	s.awaiting = false
	if s.releaseHeld(); len(s.sources.held) > 0 {
		s.awaitPrice()
	}
}

// answeredCopies counts answered copies of messages with several targets.
func (s *state) answeredCopies(n int) {
	if s.unanswered -= n; s.unanswered < maxUnanswered/2 && len(s.sources.held) > 0 {
		s.releaseHeld()
	}
}

// exceeded settles a message that would have too many copies: a forwarded one is returned to its queue to be
// dead-lettered, any other one is dropped (DL-32).
func (s *state) exceeded(b *batch, l *pendingMessage, all int) {
	b.stats.Exceeded.Add(1)
	if s.warnings.may(exceeds, s.now) {
		s.warnings.line(s.log, exceeds).Str("queue", b.Queue).Str("exchange", b.Exchange).Str("reason", b.Reason).Int("queues", all).
			Msg("message not forwarded: the broker has made too many copies of it since it was published or rejected")
	}
	if b.Forward {
		r := b.answering()
		r.Exceeded = append(r.Exceeded, l.id)
		return
	}
	b.answering().Dropped++
	b.done(l.id)
}
