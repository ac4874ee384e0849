package rest

import "sync"

// Bounds on answers that last as long as their client listens.
const (
	maxStreams    = 64 // of all users together
	streamsOfUser = 16
)

// Streams are the answers that last as long as their client listens.
type Streams struct {
	mu     sync.Mutex
	limit  int // of all users together
	ofUser int
	all    int
	by     map[string]int
	ended  chan struct{}
	once   sync.Once
}

func newStreams() *Streams {
	return &Streams{limit: maxStreams, ofUser: streamsOfUser, by: map[string]int{}, ended: make(chan struct{})}
}

// Share limits streams to a quarter of the connections, and the streams of one user to a quarter of all streams.
func (s *Streams) Share(connections int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = max(min(maxStreams, connections/4), 1)
	s.ofUser = max(min(streamsOfUser, s.limit/4), 1)
}

// Enter counts one more of a user, until leave is called; false if there are too many.
func (s *Streams) Enter(user string) (leave func(), entered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.limit || s.by[user] >= s.ofUser {
		return nil, false
	}
	s.all++
	s.by[user]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.by[user]--; s.by[user] == 0 {
			delete(s.by, user)
		}
	}, true
}

// End ends all streams, also future ones: the server is shut down.
func (s *Streams) End() { s.once.Do(func() { close(s.ended) }) }

// Ended is closed when they are to end.
func (s *Streams) Ended() <-chan struct{} { return s.ended }
