package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// source decides which message a consumer gets.
type source interface {
	// Admits returns why a consumer or a basic.get that asks for a session, or for none (nil), is refused.
	Admits(session *mail.SessionRequest) error
	// Consume attaches a consumer, now or later, and answers it.
	Consume(m *mail.Consume, c *consumers.Consumer, now clock.Instant)
	// Cancel ends the wait of consumers that are not attached yet.
	Cancel(m *mail.CancelConsumer, now clock.Instant)
	// Assign is called once in each turn, before Of.
	Assign(now clock.Instant)
	// First returns the consumer for a message with the given charge that arrives now, if no other is ready; nil for none.
	First(charge int) *consumers.Consumer
	// Of returns the next message for a consumer. If it returns false, the consumer is passed over.
	Of(c *consumers.Consumer, now clock.Instant) (backlog.Handle, bool)
	// Ready reports whether the content of the message returned by Of is in memory. Otherwise it requests it, and reports
	// whether other consumers can get messages before that.
	Ready(c *consumers.Consumer, h backlog.Handle, now clock.Instant) (is, others bool)
}

// fifo is the source of most queues: messages are delivered in the order of the backlog.
type fifo struct{ *host }

func (s fifo) Admits(session *mail.SessionRequest) error {
	if session != nil {
		return mail.ErrNoSessions
	}
	return nil
}

func (s fifo) Consume(m *mail.Consume, c *consumers.Consumer, _ clock.Instant) {
	s.out.Send(m.ReplyTo, &mail.ConsumeReply{Reply: m.Done(nil), Queue: s.self, Tag: m.Tag})
	s.Attach(c, m.Exclusive)
}

func (s fifo) Cancel(*mail.CancelConsumer, clock.Instant) {}

func (s fifo) Assign(clock.Instant) {}

func (s fifo) First(charge int) *consumers.Consumer { return s.consumers.NextFor(charge) }

func (s fifo) Of(*consumers.Consumer, clock.Instant) (backlog.Handle, bool) {
	return s.messages.Backlog.First()
}

func (s fifo) Ready(_ *consumers.Consumer, h backlog.Handle, now clock.Instant) (is, others bool) {
	return s.messages.HasContent(h, now), false
}

// dispatch delivers ready messages to consumers in turn until there are no more of either. It never delivers a message
// past its deadline, even if the timer is late (TTL-17). It reports whether it stopped at the limit of a turn.
func dispatch(s *host, from source, now clock.Instant) (more bool) {
	for died, n := 0, 0; s.messages.Backlog.Ready() > 0; n++ {
		c := s.consumers.Next()
		if c == nil {
			break
		}
		if n == int(s.turnLimit) {
			more = true
			break
		}
		h, ok := from.Of(c, now)
		if !ok {
			continue
		}
		if s.messages.Expiry.Retime(h) <= now.Floor() {
			if died++; died > messages.TurnLimit {
				more = true
				break
			}
			s.messages.Expiry.Remove(h)
			s.messages.Expire(h, now)
			continue
		}
		if !s.consumers.Admits(c, mail.ChargeOf(int(s.messages.Backlog.Size(h)))) {
			continue
		}
		if is, others := from.Ready(c, h, now); !is && others {
			continue
		} else if !is {
			break
		}
		s.messages.Expiry.Remove(h)
		s.deliver(c, h, now)
	}
	s.consumers.Offer(s.messages.Backlog.Ready())
	s.consumers.AnswerCredit(s.messages.Backlog.Ready())
	return more
}
