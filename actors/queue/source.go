package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// source decides which message a consumer gets, and attaches consumers.
type source interface {
	deliveries.Source
	// Admits returns why a consumer or a basic.get that asks for a session, or for none (nil), is refused.
	Admits(session *mail.SessionRequest) error
	// Consume attaches a consumer, now or later, and answers it.
	Consume(m *mail.Consume, c *consumers.Consumer, now clock.Instant)
	// Cancel ends the wait of consumers that are not attached yet.
	Cancel(m *mail.CancelConsumer, now clock.Instant)
	// Assign is called once in each turn, before a message is delivered.
	Assign(now clock.Instant)
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
