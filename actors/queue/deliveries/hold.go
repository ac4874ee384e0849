package deliveries

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/records"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// Hold stops the deliveries of a queue until a time: by a command, which the journal keeps, or by policy (PAUSE-1). Both are in force until
// the later time.
type Hold struct {
	Messages  *messages.Messages
	Consumers *consumers.Consumers
	Out       *mail.Posts
	command   int64  // until when, in ms of the broker's time; store.Never for no end, 0 for no command
	seq       uint64 // number of the command's note, 0 for none
	on        bool
}

// On reports whether deliveries are stopped.
func (s *Hold) On() bool { return s.on }

// ByCommand reports whether a command is in force; Noted, whether the journal has a note of it.
func (s *Hold) ByCommand() bool { return s.command != 0 }

// Noted: see ByCommand.
func (s *Hold) Noted() bool { return s.seq != 0 }

// until returns when deliveries go on, in ms of the broker's time; store.Never for no end, 0 if nothing stops them.
func (s *Hold) until() int64 {
	policy := s.Messages.Settings.PausedUntil
	if policy != 0 && policy != policies.Forever {
		policy = s.Messages.Dates.Deadline(policy)
	}
	return max(s.command, policy)
}

// Next returns when Advance is due, false for never.
func (s *Hold) Next() (int64, bool) {
	until := s.until()
	return until, s.on && until != store.Never
}

// Advance stops deliveries, or lets them go on. It leaves nothing to do.
func (s *Hold) Advance(now clock.Instant) (more bool) {
	if s.command != 0 && s.command <= now.Floor() {
		s.forget()
	}
	s.Set(s.until() > now.Floor())
	return false
}

// Set stops deliveries, or lets them go on, until Advance.
func (s *Hold) Set(on bool) {
	if s.on != on {
		s.on = on
		s.Consumers.Pause(consumers.Held, on)
	}
}

// Ends returns when deliveries go on, in wall ms, 0 for no end.
func (s *Hold) Ends() int64 {
	until := s.until()
	if until == store.Never {
		return 0
	}
	return s.Messages.Dates.Date(until)
}

// Restore takes the note of a command, and reports whether it is one.
func (s *Hold) Restore(n *store.Recovered) (taken bool) {
	if n.TTL != records.PauseNote {
		return false
	}
	if s.seq != 0 { // left by a crash between two records
		s.Messages.Journal.Forget(s.seq)
	}
	s.command, s.seq = n.Deadline, n.Seq
	s.Set(true)
	return true
}

// Execute executes a command, and answers when the journal has it.
func (s *Hold) Execute(m *mail.PauseQueue, now clock.Instant) {
	reply := &mail.PauseQueueReply{Reply: m.Done(nil)}
	until := m.Until
	if !m.Resume && until != mail.PauseForEver {
		until = s.Messages.Dates.Deadline(until)
	}
	switch {
	case m.Resume:
		until = 0
	case until <= now.Floor(), until != mail.PauseForEver && until-now.Ceil() > timeheaders.MaxDelay:
		reply.Err = protocol.ChannelErrorf(protocol.PreconditionFailed,
			"invalid end of a pause %d: expected milliseconds since 1970, in the future and at most 10 years from now", m.Until)
	}
	if reply.Err == nil && s.Messages.Journal.Err() != nil {
		reply.Err = mail.NotStored()
	}
	if reply.Err != nil {
		s.Out.Send(m.ReplyTo, reply)
		return
	}
	s.forget()
	if s.command = until; until != 0 && s.Messages.Journal.StoresNotes() {
		s.Messages.Seq++
		s.seq = s.Messages.Seq
		s.Messages.Journal.Paused(s.seq, now.Ceil(), until)
	}
	s.Advance(now)
	if reply.Paused = s.on; s.on {
		reply.Until = s.Ends()
	}
	s.Messages.Journal.Await(func(failed bool) {
		if failed {
			reply.Err = mail.NotStored()
		}
		s.Out.Send(m.ReplyTo, reply)
	})
}

// forget ends the command.
func (s *Hold) forget() {
	if s.seq != 0 {
		s.Messages.Journal.Forget(s.seq)
	}
	s.command, s.seq = 0, 0
}
