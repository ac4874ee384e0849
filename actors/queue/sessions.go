package queue

import (
	"fmt"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// sessioned is the part of a queue with sessions: each consumer gets the messages of the session that it has locked, so
// the part replaces the order of the backlog as the source of messages.
type sessioned struct {
	indifferent
	base
	receivers deliveries.Receivers
}

// newSessioned returns the part of a queue, and enables its sessions if it has them.
func newSessioned(b base, q *topology.Queue) sessioned {
	if sessions.Enabled(q.Arguments) {
		messages.EnableSessions(&b.messages, sessions.New(&b.messages.Backlog, b.consumers.Run))
	}
	return sessioned{base: b, receivers: deliveries.NewReceivers(&b.deliveries, b.host)}
}

func (s *sessioned) Handle(received any, now clock.Instant) (taken bool) {
	switch m := received.(type) {
	case *mail.UseSession:
		s.receivers.Use(m, now)
	case *mail.ListSessions:
		s.receivers.List(m, now)
	default:
		return false
	}
	return true
}

// Judge refuses messages without a valid session id; a copy by an action without one was not made.
func (s *sessioned) Judge(a *incoming) verdict {
	switch {
	case !a.made, sessions.Names(a.scanned.Of(a.m.Header)):
		return pass
	case a.batch.Action == nil:
		return unfit
	}
	*a.m, a.made = a.original, false
	return pass
}

func (s *sessioned) Next() (int64, bool) {
	var next earliest
	next.of(s.messages.Sessions.Next())
	next.of(s.receivers.Next())
	return next.at, next.ok
}

func (s *sessioned) Advance(now clock.Instant) (more bool) { return s.receivers.Expire(now) }
func (s *sessioned) Slept(ms int64, _ clock.Instant)       { s.messages.Sessions.Postpone(ms) }
func (s *sessioned) Resume(clock.Instant)                  { s.messages.Sessions.Resume() }

func (s *sessioned) Gone(channel mail.Address, now clock.Instant) {
	s.receivers.Cancel(channel, "", now)
}

func (s *sessioned) Busy() bool             { return !s.messages.Sessions.Idle() }
func (s *sessioned) Noted() bool            { return s.messages.Sessions.Noted() }
func (s *sessioned) End() []mail.Answerable { return s.receivers.Abandon() }
func (s *sessioned) Show(v *inspect.View)   { v.Sessions = s.messages.Sessions }

func (s *sessioned) Figures(f *figures) {
	all := s.messages.Sessions
	f.memory, f.counted, f.notes = f.memory+all.Bytes(), f.counted+all.Bytes(), f.notes+all.StateBytes()
	f.values[queuestats.Sessions] = int64(all.Len())
}

// Restore leaves the content of a state to be read later.
func (s *sessioned) Restore(n *store.Recovered) (taken bool) {
	if s.messages.Sessions != nil {
		s.messages.Sessions.Unknown(store.Ref{Seq: n.Seq, At: n.At}, n.Body)
	}
	return true
}

func (s *sessioned) Admits(session *mail.SessionRequest) error {
	if session != nil {
		return nil
	}
	return fmt.Errorf("%w: %w", mail.ErrSessionNeeded, protocol.ChannelErrorf(protocol.PreconditionFailed,
		"queue '%s' in vhost '%s' requires sessions: only clients of Azure Service Bus can receive from it", s.queue.Name, s.vhost.Name))
}

// Consume attaches the consumer when it has locked a session.
func (s *sessioned) Consume(m *mail.Consume, c *consumers.Consumer, now clock.Instant) {
	s.receivers.Consume(m, c, now)
}

func (s *sessioned) Cancel(m *mail.CancelConsumer, now clock.Instant) {
	s.receivers.Cancel(m.Channel, m.Tag, now)
}

func (s *sessioned) Assign(now clock.Instant) { s.receivers.Turn(now) }

// First returns nil: the holder of the message's session gets it at the end of the turn.
func (s *sessioned) First(int) *consumers.Consumer { return nil }

func (s *sessioned) Of(c *consumers.Consumer, now clock.Instant) (backlog.Handle, bool) {
	return s.messages.Sessions.First(c, now.Floor())
}

// Ready lets the other consumers go on while contents are read for one.
func (s *sessioned) Ready(c *consumers.Consumer, h backlog.Handle, now clock.Instant) (is, others bool) {
	if s.messages.Backlog.IsPaged(h) {
		s.receivers.Read(c, now)
		return false, true
	}
	return true, true
}
