package queue

import (
	"fmt"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/protocol"
)

// Methods that the queue implements for its receivers, if it has sessions.

// needsSession returns the error for a consumer or a basic.get that names no session (SESSION-2).
func needsSession(s *state) error {
	return fmt.Errorf("%w: %w", mail.ErrSessionNeeded, protocol.ChannelErrorf(protocol.PreconditionFailed,
		"queue '%s' in vhost '%s' requires sessions: only clients of Azure Service Bus can receive from it", s.queue.Name, s.vhost.Name))
}

// Attach implements deliveries.ReceiverOwner.
func (s *state) Attach(c *consumers.Consumer) {
	s.consumers.Attach(c, false)
	s.Consumed = true
	s.lease.Hold()
}

// Detach implements deliveries.ReceiverOwner.
func (s *state) Detach(c *consumers.Consumer, now clock.Instant) { s.detach(c, now) }

// HoldLease implements deliveries.ReceiverOwner: a receiver that waits for a session holds the lease as a consumer does.
func (s *state) HoldLease(hold bool, now clock.Instant) {
	if hold {
		s.lease.Hold()
	} else {
		s.lease.Release(now.Ceil(), leaseLeft)
	}
}

// next returns the next message for c; false if there is none, or none in its session.
func next(s *state, c *consumers.Consumer, now clock.Instant) (backlog.Handle, bool) {
	if s.Sessions != nil {
		return s.Sessions.First(c, now.Floor())
	}
	return s.Backlog.First()
}
