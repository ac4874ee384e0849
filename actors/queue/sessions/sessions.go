package sessions

import (
	"container/list"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/internal/store"
	"candlemark/protocol"
)

// MostID is how many bytes the id of a session has at most.
const MostID = 128

// Argument is that of queues with sessions.
const Argument = "x-sessions"

// Wanted reports whether a queue with these arguments has sessions.
func Wanted(args protocol.Table) bool {
	v, _ := args.Get(Argument)
	is, _ := v.(bool)
	return is
}

// IDOf is the id of a message's session, by its raw properties: app-id, which is what group-id of AMQP 1.0 becomes. It may be empty; false:
// there is none, or it is too long.
func IDOf(properties []byte) (id string, ok bool) {
	scan, err := protocol.ScanProperties(properties)
	if err != nil || !scan.HasAppID || len(scan.AppID) > MostID {
		return "", false
	}
	return string(scan.AppID), true
}

// Set is the sessions of a queue. nil has none, and is good for Len, Next, Count and what is called for each message: Add, Enter, Ready, Gone.
type Set struct {
	messages *backlog.Backlog
	members  map[uint64]member // by number of the message
	byID     map[string]*Session
	all      list.List // *Session, in the order in which they came
	free     list.List // *Session: those that nobody has locked and that may have ready messages, in the order in which they became so
	held     map[*consumers.Consumer]*Session
	order    uint64         // of the message that came last into the queue
	opaque   bool           // some of it is not known yet
	unknown  []unknown      // what is to be read for that, in order
	barrier  barrier        // of those in the queue
	readers  []*Session     // for which contents are read
	waiting  list.List      // *Waiter, in the order in which they came
	waits    map[string]int // how many of them are of a connection
	named    int            // of those, who want a session by its name
	timers   timers         // of locks and waits
	page     *Page          // that is being made, nil for none
	states   int            // how many there are
	bytes    int64          // of states
	runs     func(*consumers.Consumer, bool)
}

// member is a message and where it stands.
type member struct {
	session *Session // nil while it is not known
	order   uint64   // 0 while it is not in the queue
	handle  backlog.Handle
}

// Session is the messages with one id, and what is noted down of them.
type Session struct {
	ID      string
	holder  *consumers.Consumer // nil: nobody's
	lost    bool                // the lock has run out, and what the holder had is not back yet
	timer   *timer
	ready   ready
	count   int           // messages, in whatever state
	at      *list.Element // among all
	spot    *list.Element // among those that are free
	state   state
	reading bool // contents are read, for which its holder waits
}

// New makes the empty Set of messages in b. runs is told that a consumer that has locked a session can be given messages now, or not.
func New(b *backlog.Backlog, runs func(c *consumers.Consumer, can bool)) *Set {
	return &Set{
		messages: b, members: map[uint64]member{}, byID: map[string]*Session{}, held: map[*consumers.Consumer]*Session{}, waits: map[string]int{}, runs: runs,
	}
}

// Len is how many sessions there are: with messages, with a state, or locked.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.byID)
}

// Idle reports whether there is nothing to be kept, and nobody waits.
func (s *Set) Idle() bool {
	return s == nil || len(s.byID) == 0 && len(s.members) == 0 && s.waiting.Len() == 0 && !s.opaque
}

// Locked is how many are locked.
func (s *Set) Locked() int {
	if s == nil {
		return 0
	}
	return len(s.held)
}

// each is about how many bytes a message takes here, and perSession how many a session.
const (
	each       = 96
	perSession = 256
)

// Bytes are about how many all of it takes in memory.
func (s *Set) Bytes() int64 {
	if s == nil {
		return 0
	}
	return s.bytes + int64(len(s.members))*each + int64(len(s.byID))*perSession
}

func (s *Set) session(id string) *Session {
	x := s.byID[id]
	if x == nil {
		x = &Session{ID: id}
		s.byID[id] = x
		x.at = s.all.PushBack(x)
	}
	return x
}

// Add has a message be one of a session; it need not be in the queue.
func (s *Set) Add(seq uint64, id string) {
	if s == nil {
		return
	}
	x := s.session(id)
	x.count++
	s.members[seq] = member{session: x}
}

// Enter has a message stand last in its session: it is in the queue now, ready or not.
func (s *Set) Enter(seq uint64, h backlog.Handle) {
	if s == nil {
		return
	}
	s.order++
	m := s.members[seq]
	m.order, m.handle = s.order, h
	s.members[seq] = m
	switch {
	case m.session != nil:
		s.makeReady(m)
	case s.opaque:
		s.barrier.add(m.order, seq)
	}
}

// Ready has a message that came back be delivered again, at its place in its session.
func (s *Set) Ready(seq uint64) {
	if s == nil {
		return
	}
	if m := s.members[seq]; m.session != nil {
		s.makeReady(m)
	}
}

func (s *Set) makeReady(m member) {
	x := m.session
	if x.ready.push(place{m.order, m.handle}); len(x.ready) > 2*x.count+64 {
		x.ready.compact(func(p place) bool { return s.isReady(x, p) })
	}
	s.wake(x)
}

// wake has a session with a ready message be served: by its holder, or by whoever wants the next one.
func (s *Set) wake(x *Session) {
	switch {
	case x.holder != nil:
		if !x.lost {
			s.runs(x.holder, true)
		}
	case x.spot == nil:
		x.spot = s.free.PushBack(x)
	}
}

// isReady tells whether a place of a session still has a ready message.
func (s *Set) isReady(x *Session, p place) bool {
	if !s.messages.IsReady(p.handle) {
		return false
	}
	m := s.members[s.messages.Seq(p.handle)]
	return m.session == x && m.order == p.order
}

// first is the first ready message of a session, false for none. What stands behind a message whose session is not known yet has to wait.
func (s *Set) first(x *Session) (h backlog.Handle, ok bool) {
	for len(x.ready) > 0 && !s.isReady(x, x.ready[0]) {
		x.ready.pop()
	}
	if len(x.ready) == 0 || s.barrier.before(x.ready[0].order, s.members) {
		return 0, false
	}
	return x.ready[0].handle, true
}

// First is the first ready message of the session that a consumer has locked, at now in wall ms. If there is none the consumer is given nothing
// until there is.
func (s *Set) First(c *consumers.Consumer, now int64) (h backlog.Handle, ok bool) {
	x := s.held[c]
	if x != nil && !x.lost && x.timer.at > now && !x.reading {
		if h, ok = s.first(x); ok {
			return h, true
		}
	}
	s.runs(c, false)
	return 0, false
}

// Behind calls f for ready messages of a consumer's session, limit at most: the first, and others near it.
func (s *Set) Behind(c *consumers.Consumer, limit int, f func(backlog.Handle)) {
	x := s.held[c]
	for _, p := range x.ready[:min(len(x.ready), limit)] {
		if s.isReady(x, p) {
			f(p.handle)
		}
	}
}

// Reading has a consumer be given nothing until Resume: contents are read for it.
func (s *Set) Reading(c *consumers.Consumer) {
	x := s.held[c]
	x.reading, c.Reading = true, true
	s.readers = append(s.readers, x)
	s.runs(c, false)
}

// Resume is called when contents were read.
func (s *Set) Resume() {
	if s == nil {
		return
	}
	for i, x := range s.readers {
		if x.reading = false; x.holder != nil {
			x.holder.Reading = false
			s.wake(x)
		}
		s.readers[i] = nil
	}
	s.readers = s.readers[:0]
}

// Gone forgets a message.
func (s *Set) Gone(seq uint64) {
	if s == nil {
		return
	}
	m, is := s.members[seq]
	if delete(s.members, seq); !is || m.session == nil {
		return
	}
	m.session.count--
	s.forget(m.session)
}

// forget forgets a session of which there is nothing.
func (s *Set) forget(x *Session) {
	if x.count > 0 || x.holder != nil || x.state.kept() {
		return
	}
	if x.spot != nil {
		s.free.Remove(x.spot)
	}
	s.page.without(x)
	s.all.Remove(x.at)
	delete(s.byID, x.ID)
}

// Clear forgets all messages; locks and states stay.
func (s *Set) Clear() {
	if s == nil {
		return
	}
	clear(s.members)
	for _, x := range s.byID {
		x.count, x.ready = 0, nil
		s.forget(x)
	}
}

// Of is the id of a message's session; false: it is not known.
func (s *Set) Of(seq uint64) (id string, ok bool) {
	if s == nil {
		return "", false
	}
	if m := s.members[seq]; m.session != nil {
		return m.session.ID, true
	}
	return "", false
}

// Place is where a message stands in the queue; false: it does not.
func (s *Set) Place(seq uint64) (h backlog.Handle, ok bool) {
	m := s.members[seq]
	return m.handle, m.order != 0
}

// Has reports whether a message is one of the queue's, in the backlog or expected there.
func (s *Set) Has(seq uint64) bool {
	_, is := s.members[seq]
	return is
}

// unknown is a message or a state that the journal has.
type unknown struct {
	ref  store.Ref
	size uint32
}

// Unknown takes in what the journal has: it is to be read, and Know called, before any session is locked. size is that of the body in bytes.
func (s *Set) Unknown(ref store.Ref, size uint32) {
	s.opaque = true
	s.unknown = append(s.unknown, unknown{ref, size})
}

// Expect has a message that is not known yet be one of the queue's; see Unknown.
func (s *Set) Expect(seq uint64) { s.members[seq] = member{} }

// ToRead takes what is to be read next, about bytes of it and limit at most.
func (s *Set) ToRead(limit int, bytes int64) (want []store.Ref) {
	for len(s.unknown) > 0 && len(want) < limit && bytes > 0 {
		want = append(want, s.unknown[0].ref)
		bytes -= int64(s.unknown[0].size)
		s.unknown = s.unknown[1:]
	}
	return want
}

// Know tells which session a message is of that was not known; one that is gone meanwhile is not looked at.
func (s *Set) Know(seq uint64, id string) {
	m, is := s.members[seq]
	if !is || m.session != nil {
		return
	}
	m.session = s.session(id)
	m.session.count++
	s.members[seq] = m
	if m.order != 0 {
		s.makeReady(m)
	}
}

// Known is called when all that was to be read is known: whoever has locked a session goes on.
func (s *Set) Known() {
	s.opaque, s.unknown, s.barrier = false, nil, barrier{} // what could not be read is nobody's
	for _, x := range s.held {
		s.wake(x)
	}
}

// Opaque reports whether Known has to be called yet.
func (s *Set) Opaque() bool { return s != nil && s.opaque }
