package shovel

import (
	"errors"
	"time"

	"candlemark/internal/clock"
)

// Phase says what a shovel is about, with RabbitMQ's word.
type Phase string

// The phases. Blocked: the destination takes nothing at the moment.
const (
	Starting   Phase = "starting"
	Running    Phase = "running"
	Blocked    Phase = "blocked"
	Terminated Phase = "terminated"
)

// Status describes a shovel. It is not altered.
type Status struct {
	Phase Phase
	// Reason of a shovel that is terminated. It names no password.
	Reason string
	Since  int64 // ms since 1970
	// From and To are the addresses of a shovel that runs, without user and password.
	From, To string
}

// errFinished ends the session of a shovel that has moved all that it was to move.
var errFinished = errors.New("everything is moved")

// action says what the shell has to do.
type action struct {
	begin  bool          // a session
	wait   time.Duration // then tell due
	finish bool          // the shovel is to be deleted
}

// state is the core.
type state struct {
	reconnect time.Duration // pause behind a session that failed, 0 for good
	session   uint64        // number of the current one
	status    Status
}

// due begins a session.
func (s *state) due(now clock.Instant) action {
	s.session++
	s.status = Status{Phase: Starting, Since: now.Floor()}
	return action{begin: true}
}

// connected: a session runs.
func (s *state) connected(now clock.Instant, m *connected) {
	if m.session == s.session {
		s.status = Status{Phase: Running, Since: now.Floor(), From: m.from, To: m.to}
	}
}

// blocked: the destination takes nothing, or something again.
func (s *state) blocked(m *blocked) {
	switch {
	case m.session != s.session:
	case m.is && s.status.Phase == Running:
		s.status.Phase = Blocked
	case !m.is && s.status.Phase == Blocked:
		s.status.Phase = Running
	}
}

// ended: a session has ended, which it does by itself only if something is wrong or everything done.
func (s *state) ended(now clock.Instant, m *ended) action {
	switch {
	case m.session != s.session:
		return action{}
	case errors.Is(m.err, errFinished):
		return action{finish: true}
	}
	s.status = Status{Phase: Terminated, Reason: m.err.Error(), Since: now.Floor()}
	return action{wait: s.reconnect}
}
