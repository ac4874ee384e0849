package resources

import (
	"cmp"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Sockets counts accepted connections, so that clients do not use up the file descriptors that the journal and the
// definitions need: beyond the limit new ones are refused at once, and open ones continue.
type Sockets struct {
	limit int
	log   zerolog.Logger

	mu      sync.Mutex
	open    int
	refused int       // since a shortage began, 0 when there is none
	logged  time.Time // when a refusal was last logged
}

// logInterval is the minimum time between log lines about a shortage.
const logInterval = 10 * time.Second

// NewSockets returns a counter for at most limit connections, 0 for as many as the file descriptors allow.
func NewSockets(limit int, log zerolog.Logger) *Sockets {
	return &Sockets{limit: cmp.Or(limit, socketsOf(descriptors())), log: log}
}

// Limit returns the maximum number of open connections.
func (s *Sockets) Limit() int { return s.limit }

// Enter counts another connection; false if there is no room. Otherwise call Leave once.
func (s *Sockets) Enter() bool {
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

// Leave undoes Enter.
func (s *Sockets) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}

// Failed reports that a connection could not even be accepted.
func (s *Sockets) Failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.short().Err(err).Msg("accepting a connection failed")
}

// short counts refused connections; it returns nil if a line about that was logged recently.
func (s *Sockets) short() *zerolog.Event {
	s.refused++
	if now := time.Now(); now.Sub(s.logged) >= logInterval {
		s.logged = now
		return s.log.Warn()
	}
	return nil
}

// Shares of the file descriptors. The journal, the definitions and the logs have
// the rest.
const (
	spareFiles = 100 // reserved first, if there are many
	minShared  = 200 // else clients have half of them
	manyHTTP   = 512
	fewHTTP    = 8
)

// socketsOf returns the number of the file descriptors that AMQP clients may use.
func socketsOf(files int) int {
	if files < minShared {
		return max(files/2, 1)
	}
	return (files - spareFiles) / 10 * 9
}

// ForwardedSockets returns how many clients a node of a cluster may pass on to another one: each has two connections.
func ForwardedSockets() int { return max(socketsOf(descriptors())/2, 1) }

// HTTPSockets returns how many connections the HTTP API may have at a time.
func HTTPSockets() int { return min(max(descriptors()/20, fewHTTP), manyHTTP) }
