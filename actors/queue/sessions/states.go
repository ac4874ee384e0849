package sessions

// Bounds on states.
const (
	// MostState is how many bytes the state of a session has at most.
	MostState = 256 << 10
	// MostStates is how many sessions of a queue have one at most, MostStateBytes how many bytes all of them.
	MostStates     = 10_000
	MostStateBytes = 64 << 20
)

// state has what receivers have noted down of a session.
type state struct {
	body    []byte // nil for nothing
	seq     uint64 // the journal's number of it
	updated int64  // wall ms
}

// kept reports whether there is one.
func (s *state) kept() bool { return s.body != nil }

// State is that of a session, nil for none.
func (s *Set) State(id string) []byte {
	if x := s.byID[id]; x != nil {
		return x.state.body
	}
	return nil
}

// Fits reports whether there is room for the state of a session, and not too many others.
func (s *Set) Fits(id string, body []byte) bool {
	was := s.State(id)
	n, bytes := s.states, s.bytes+int64(len(body)-len(was))
	if was == nil {
		n++
	}
	return body == nil || n <= MostStates && bytes <= MostStateBytes
}

// SetState gives a session another state, which is the receiver's, with the journal's number; nil for none. It returns the number of the one
// before, 0 for none. now is in wall ms.
func (s *Set) SetState(id string, body []byte, seq uint64, now int64) (before uint64) {
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

// States is how many sessions have one.
func (s *Set) States() int { return s.states }

// Noted reports whether the journal has states, or may have some that are not read yet.
func (s *Set) Noted() bool { return s != nil && (s.states > 0 || s.opaque) }

// NewerThan reports whether the state of a session has a higher number of the journal's than that.
func (s *Set) NewerThan(id string, seq uint64) bool {
	x := s.byID[id]
	return x != nil && x.state.seq > seq
}
