package sessions

import (
	"container/list"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// MaxID is the maximum length of a session id, in bytes.
const MaxID = 128

// Argument is the queue argument that enables sessions.
const Argument = "x-sessions"

// Enabled reports whether a queue with these arguments has sessions.
func Enabled(args protocol.Table) bool {
	v, _ := args.Get(Argument)
	is, _ := v.(bool)
	return is
}

// IDOf returns the session id of a message by its raw properties: app-id, which holds the group-id of AMQP 1.0. It
// may be empty; false if there is none, or it is too long.
func IDOf(properties []byte) (id string, ok bool) {
	if scan := content.Scan(properties); Names(&scan) {
		return string(scan.AppID), true
	}
	return "", false
}

// Names reports whether a message with these properties has a valid session id.
func Names(scan *protocol.Scan) bool {
	return scan.HasAppID && len(scan.AppID) <= MaxID
}

// Sessions holds the sessions of a queue. A nil *Sessions is an empty set and valid for Len, Next, Count and the methods for each
// message: Add, Enter, Ready, Gone.
type Sessions struct {
	messages *backlog.Backlog
	members  map[uint64]member // by message number
	byID     map[string]*Session
	all      list.List // *Session, in the order of creation
	free     list.List // *Session: unlocked and possibly with ready messages, in the order in which they became so
	held     map[*consumers.Consumer]*Session
	order    uint64         // of the message that entered the queue last
	opaque   bool           // some sessions are not known yet
	unknown  []unknown      // contents to be read to find them, in order
	barrier  barrier        // of the unknown messages in the queue
	readers  []*Session     // sessions for which contents are being read
	waiting  list.List      // *Waiter, in order of arrival
	waits    map[string]int // number of waiters per connection
	named    int            // number of waiters for a session by id
	timers   timers         // ends of locks and waits
	page     *Page          // in progress, nil for none
	states   int            // number of states
	bytes    int64          // of states
	runs     func(*consumers.Consumer, bool)
}

// member is a message and its position.
type member struct {
	session *Session // nil if not known yet
	order   uint64   // 0 if not in the queue
	handle  backlog.Handle
}

// Session holds the messages with one id, and its state.
type Session struct {
	ID      string
	holder  *consumers.Consumer // nil if not locked
	lost    bool                // the lock has expired, but the holder's deliveries are not requeued yet
	timer   *timer
	ready   ready
	count   int           // messages, in any state
	at      *list.Element // in Sessions.all
	spot    *list.Element // in Sessions.free
	state   state
	reading bool // contents are being read for its holder
}

// New returns empty Sessions for messages in b. runs is called when a consumer that has locked a session becomes able
// to get messages, or unable.
func New(b *backlog.Backlog, runs func(c *consumers.Consumer, can bool)) *Sessions {
	return &Sessions{
		messages: b, members: map[uint64]member{}, byID: map[string]*Session{}, held: map[*consumers.Consumer]*Session{}, waits: map[string]int{}, runs: runs,
	}
}

// Len returns the number of sessions: with messages, with a state, or locked.
func (s *Sessions) Len() int {
	if s == nil {
		return 0
	}
	return len(s.byID)
}

// Idle reports whether there are no sessions and no waiters.
func (s *Sessions) Idle() bool {
	return s == nil || len(s.byID) == 0 && len(s.members) == 0 && s.waiting.Len() == 0 && !s.opaque
}

// Locked returns the number of locked sessions.
func (s *Sessions) Locked() int {
	if s == nil {
		return 0
	}
	return len(s.held)
}

// each and perSession are the approximate memory per message and per session, in bytes.
const (
	each       = 96
	perSession = 256
)

// Bytes returns the approximate memory use of the sessions.
func (s *Sessions) Bytes() int64 {
	if s == nil {
		return 0
	}
	return s.bytes + int64(len(s.members))*each + int64(len(s.byID))*perSession
}

func (s *Sessions) session(id string) *Session {
	x := s.byID[id]
	if x == nil {
		x = &Session{ID: id}
		s.byID[id] = x
		x.at = s.all.PushBack(x)
	}
	return x
}

// Add adds a message to a session; it need not be in the queue yet.
func (s *Sessions) Add(seq uint64, id string) {
	if s == nil {
		return
	}
	x := s.session(id)
	x.count++
	s.members[seq] = member{session: x}
}

// Enter makes a message the last of its session: it has entered the queue, ready or not.
func (s *Sessions) Enter(seq uint64, h backlog.Handle) {
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

// Ready makes a requeued message available again, at its position in its session.
func (s *Sessions) Ready(seq uint64) {
	if s == nil {
		return
	}
	if m := s.members[seq]; m.session != nil {
		s.makeReady(m)
	}
}

func (s *Sessions) makeReady(m member) {
	x := m.session
	if x.ready.push(place{m.order, m.handle}); len(x.ready) > 2*x.count+64 {
		x.ready.compact(func(p place) bool { return s.isReady(x, p) })
	}
	s.wake(x)
}

// wake makes a session with a ready message available to its holder, or to the next waiter.
func (s *Sessions) wake(x *Session) {
	switch {
	case x.holder != nil:
		if !x.lost {
			s.runs(x.holder, true)
		}
	case x.spot == nil:
		x.spot = s.free.PushBack(x)
	}
}

// isReady reports whether the message at a place is still ready.
func (s *Sessions) isReady(x *Session, p place) bool {
	if !s.messages.IsReady(p.handle) {
		return false
	}
	m := s.members[s.messages.Seq(p.handle)]
	return m.session == x && m.order == p.order
}

// first returns the first ready message of a session, false for none. Messages after one whose session is not known yet
// have to wait.
func (s *Sessions) first(x *Session) (h backlog.Handle, ok bool) {
	for len(x.ready) > 0 && !s.isReady(x, x.ready[0]) {
		x.ready.pop()
	}
	if len(x.ready) == 0 || s.barrier.before(x.ready[0].order, s.members) {
		return 0, false
	}
	return x.ready[0].handle, true
}

// First returns the first ready message of the session that a consumer has locked, at now, in wall ms. If there is
// none, the consumer gets no messages until there is one.
func (s *Sessions) First(c *consumers.Consumer, now int64) (h backlog.Handle, ok bool) {
	x := s.held[c]
	if x != nil && !x.lost && x.timer.at > now && !x.reading {
		if h, ok = s.first(x); ok {
			return h, true
		}
	}
	s.runs(c, false)
	return 0, false
}

// Behind calls f for at most limit ready messages of a consumer's session: the first, and others near it.
func (s *Sessions) Behind(c *consumers.Consumer, limit int, f func(backlog.Handle)) {
	x := s.held[c]
	for _, p := range x.ready[:min(len(x.ready), limit)] {
		if s.isReady(x, p) {
			f(p.handle)
		}
	}
}

// Reading stops deliveries to a consumer until Resume: contents are being read for it.
func (s *Sessions) Reading(c *consumers.Consumer) {
	x := s.held[c]
	x.reading, c.ContentPending = true, true
	s.readers = append(s.readers, x)
	s.runs(c, false)
}

// Resume is called when contents were read.
func (s *Sessions) Resume() {
	if s == nil {
		return
	}
	for i, x := range s.readers {
		if x.reading = false; x.holder != nil {
			x.holder.ContentPending = false
			s.wake(x)
		}
		s.readers[i] = nil
	}
	s.readers = s.readers[:0]
}

// Gone removes a message.
func (s *Sessions) Gone(seq uint64) {
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

// forget removes a session that is empty.
func (s *Sessions) forget(x *Session) {
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

// Clear removes all messages; locks and states stay.
func (s *Sessions) Clear() {
	if s == nil {
		return
	}
	clear(s.members)
	for _, x := range s.byID {
		x.count, x.ready = 0, nil
		s.forget(x)
	}
}

// Of returns the session id of a message; false if it is not known.
func (s *Sessions) Of(seq uint64) (id string, ok bool) {
	if s == nil {
		return "", false
	}
	if m := s.members[seq]; m.session != nil {
		return m.session.ID, true
	}
	return "", false
}

// Place returns the handle of a message; false if it is not in the queue.
func (s *Sessions) Place(seq uint64) (h backlog.Handle, ok bool) {
	m := s.members[seq]
	return m.handle, m.order != 0
}

// Has reports whether a message belongs to the queue, in the backlog or expected there.
func (s *Sessions) Has(seq uint64) bool {
	_, is := s.members[seq]
	return is
}

// unknown is a message or a state in the journal that was not read yet.
type unknown struct {
	ref  store.Ref
	size uint32
}

// Unknown adds a message or state in the journal: it has to be read, and Know called, before any session is locked.
// size is the size of its body in bytes.
func (s *Sessions) Unknown(ref store.Ref, size uint32) {
	s.opaque = true
	s.unknown = append(s.unknown, unknown{ref, size})
}

// Expect adds a message whose session is not known yet to the queue's; see Unknown.
func (s *Sessions) Expect(seq uint64) { s.members[seq] = member{} }

// ToRead returns the contents to be read next, at most limit of them and about the given bytes, and removes them from
// the list.
func (s *Sessions) ToRead(limit int, bytes int64) (want []store.Ref) {
	for len(s.unknown) > 0 && len(want) < limit && bytes > 0 {
		want = append(want, s.unknown[0].ref)
		bytes -= int64(s.unknown[0].size)
		s.unknown = s.unknown[1:]
	}
	return want
}

// Know sets the session of a message whose session was unknown; a message removed in the meantime is ignored.
func (s *Sessions) Know(seq uint64, id string) {
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

// Known is called when all contents were read: consumers that have locked sessions continue.
func (s *Sessions) Known() {
	s.opaque, s.unknown, s.barrier = false, nil, barrier{} // unreadable messages have no session
	for _, x := range s.held {
		s.wake(x)
	}
}

// Opaque reports whether contents have to be read before Known.
func (s *Sessions) Opaque() bool { return s != nil && s.opaque }
