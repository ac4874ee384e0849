package mail

import "errors"

// Sessions of a queue: its messages with one session id, which one consumer at a time has locked. What is named here is refused with the
// errors below, or with those of other commands.

// SessionWanted is the session that a consumer is to lock.
type SessionWanted struct {
	ID string
	// Next has the queue choose one that has messages and that nobody has locked, and wait for one if there is none.
	Next bool
	// Wait is how many ms to wait for one at most. The queue has a bound of its own.
	Wait int64
	// Link is the name of the consumer's link.
	Link string
}

// SessionLocked is a session that a consumer has locked.
type SessionLocked struct {
	ID    string
	Until int64 // wall ms
}

// Errors of mail about sessions.
var (
	// ErrSessionTaken: somebody else has locked the session.
	ErrSessionTaken = errors.New("another receiver has locked the session")
	// ErrNoSession: no session came free in time.
	ErrNoSession = errors.New("no session with messages came free in time")
	// ErrSessionLost: who asks has not locked the session, or not any more.
	ErrSessionLost = errors.New("the session is not locked, or not any more")
	// ErrSessionsFull: the queue has no room for more who wait, or for more states of sessions.
	ErrSessionsFull = errors.New("the queue has no room for more of its sessions")
	// ErrSessionState: a state is too large.
	ErrSessionState = errors.New("the state of a session is too large")
	// ErrSessionID: an id is too long.
	ErrSessionID = errors.New("the id of a session has at most 128 bytes")
	// ErrNoSessions: the queue has no sessions.
	ErrNoSessions = errors.New("the queue has no sessions, so none can be locked")
	// ErrSessionNeeded: a message without an id of a session comes, or a consumer that wants none.
	ErrSessionNeeded = errors.New("the queue has sessions: messages need the id of one, and consumers have to lock one")
)

// UseSession is a command about a session that a consumer of the same connection has locked. From anybody; SessionUsed comes back.
type UseSession struct {
	Request
	ID         string
	Connection Address
	// Renew gives the lock its time anew. Set stores State, or removes what is stored if it is nil. With neither, State is read.
	Renew, Set bool
	State      []byte
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (u *UseSession) Answer(f Fate) (Address, any) {
	return u.ReplyTo, &SessionUsed{Reply: u.Done(gone(f, u.Queue, u.VHost))}
}

// SessionUsed answers UseSession. What was set is in the journal.
type SessionUsed struct {
	Reply
	Until int64  // end of the lock, wall ms
	State []byte // nil for none
}

// MostSessions is how many ids a SessionList has at most.
const MostSessions = 1000

// ListSessions asks for the ids of sessions, in their order. From anybody; SessionList comes back. It renews no lease.
type ListSessions struct {
	Request
	// Since, unless 0, wants those only whose states were set then or later, wall ms. With 0 it is all that have messages or a state.
	Since int64
	Skip  int
	Limit int // 1 to MostSessions; all else means MostSessions
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (l *ListSessions) Answer(f Fate) (Address, any) {
	return l.ReplyTo, &SessionList{Reply: l.Done(gone(f, l.Queue, l.VHost))}
}

// SessionList answers ListSessions.
type SessionList struct {
	Reply
	IDs []string
}
