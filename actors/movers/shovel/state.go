package shovel

import (
	"errors"
	"time"

	"candlemark/internal/measure/clock"
)

// Phase is the state of a shovel, in RabbitMQ's terms.
type Phase string

// The phases. Blocked: the destination takes no messages at present.
const (
	Starting   Phase = "starting"
	Running    Phase = "running"
	Blocked    Phase = "blocked"
	Terminated Phase = "terminated"
)

// Status describes a shovel. It is immutable.
type Status struct {
	Phase Phase
	// Reason is why the shovel is terminated. It contains no password.
	Reason string
	Since  int64 // ms since 1970
	// From and To are the addresses of a running shovel, without user and password.
	From, To string
}

// errFinished ends the session of a shovel that has moved all its messages.
var errFinished = errors.New("all messages have been moved")

// action makes the shell start a session, to wait, or to delete the shovel.
type action struct {
	begin  bool          // start a session
	wait   time.Duration // time until due has to be called
	finish bool          // delete the shovel
}

// state is the core.
type state struct {
	reconnect time.Duration // pause after a failed session, 0 to give up
	session   uint64        // number of the current session
	status    Status
}

// due starts a session.
func (s *state) due(now clock.Instant) action {
	s.session++
	s.status = Status{Phase: Starting, Since: now.Floor()}
	return action{begin: true}
}

// connected handles the start of a connected session.
func (s *state) connected(now clock.Instant, m *connected) {
	if m.session == s.session {
		s.status = Status{Phase: Running, Since: now.Floor(), From: m.from, To: m.to}
	}
}

// blocked handles a change of whether the destination takes messages.
func (s *state) blocked(m *blocked) {
	switch {
	case m.session != s.session:
	case m.is && s.status.Phase == Running:
		s.status.Phase = Blocked
	case !m.is && s.status.Phase == Blocked:
		s.status.Phase = Running
	}
}

// ended handles the end of a session: an error, or all messages are moved.
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
