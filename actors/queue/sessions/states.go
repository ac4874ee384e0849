package sessions

// Limits of states.
const (
	// MaxState is the maximum size of a session's state, in bytes.
	MaxState = 256 << 10
	// MaxStates is the maximum number of sessions with a state in a queue, MaxStateBytes the maximum size of all
	// states.
	MaxStates     = 10_000
	MaxStateBytes = 64 << 20
)

// state is a value that receivers have stored with a session.
type state struct {
	body    []byte // nil for none
	seq     uint64 // number in the journal
	updated int64  // wall ms
}

// kept reports whether there is a state.
func (s *state) kept() bool { return s.body != nil }

// State returns the state of a session, nil for none.
func (s *Sessions) State(id string) []byte {
	if x := s.byID[id]; x != nil {
		return x.state.body
	}
	return nil
}

// Fits reports whether a state for a session is within the limits.
func (s *Sessions) Fits(id string, body []byte) bool {
	was := s.State(id)
	n, bytes := s.states, s.bytes+int64(len(body)-len(was))
	if was == nil {
		n++
	}
	return body == nil || n <= MaxStates && bytes <= MaxStateBytes
}

// SetState sets the state of a session, with its number in the journal; nil deletes it. It returns the number of the
// previous state, 0 for none. now is in wall ms.
func (s *Sessions) SetState(id string, body []byte, seq uint64, now int64) (before uint64) {
	x := s.session(id)
	before = x.state.seq
	s.bytes += int64(len(body) - len(x.state.body))
	switch was := x.state.kept(); {
	case body != nil && !was:
		s.states++
	case body == nil && was:
		s.states--
	}
	if x.state = (state{body, seq, now}); body == nil {
		x.state = state{}
		s.forget(x)
	}
	return before
}

// StateBytes returns the approximate memory use of the states, in bytes.
func (s *Sessions) StateBytes() int64 {
	if s == nil {
		return 0
	}
	return s.bytes + int64(s.states)*perSession
}

// States returns the number of sessions with a state.
func (s *Sessions) States() int { return s.states }

// Noted reports whether the journal has states, or may have some that were not read yet.
func (s *Sessions) Noted() bool { return s != nil && (s.states > 0 || s.opaque) }

// NewerThan reports whether the state of a session has a number in the journal above seq.
func (s *Sessions) NewerThan(id string, seq uint64) bool {
	x := s.byID[id]
	return x != nil && x.state.seq > seq
}
