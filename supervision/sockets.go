package supervision

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// sockets counts accepted connections, so that clients do not use up the file
// descriptors that the journal and the definitions need: beyond the limit they
// are refused at once, and who is in goes on.
type sockets struct {
	limit int
	log   zerolog.Logger

	mu      sync.Mutex
	open    int
	refused int       // since a shortage began, 0 when there is none
	told    time.Time // when the log last heard of one
}

// tellAgain is how long a shortage is not worth another line.
const tellAgain = 10 * time.Second

// enter counts one more; false if there is no room for it. Else leave once.
func (s *sockets) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.limit {
		s.short().Int("sockets", s.open).Msg("a connection is refused: all file descriptors for connections are in use")
		return false
	}
	s.open++
	if s.refused > 0 {
		s.log.Info().Int("refused", s.refused).Msg("connections are accepted again")
		s.refused = 0
	}
	return true
}

// leave ends what enter began.
func (s *sockets) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}

// failed: a connection could not even be accepted.
func (s *sockets) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.short().Err(err).Msg("accepting a connection failed")
}

// short counts what is refused; the event that it returns is nil when the log
// has heard of that a moment ago.
func (s *sockets) short() *zerolog.Event {
	s.refused++
	if now := time.Now(); now.Sub(s.told) >= tellAgain {
		s.told = now
		return s.log.Warn()
	}
	return nil
}
