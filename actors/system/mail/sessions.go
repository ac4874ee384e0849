package mail

import "errors"

// Sessions of a queue: the messages of one session id, locked by one consumer at a time. The commands here fail with
// the errors below, or with errors common to all commands.

// SessionRequest is the session that a consumer asks to lock.
type SessionRequest struct {
	ID string
	// Next lets the queue choose a session that has messages and is not locked, and wait if there is none.
	Next bool
	// Wait is the maximum wait in ms. The queue has its own limit.
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
	// ErrSessionTaken: another consumer has locked the session.
	ErrSessionTaken = errors.New("another receiver has locked the session")
	// ErrNoSession: no session became available in time.
	ErrNoSession = errors.New("no session with messages became available in time")
	// ErrSessionLost: the sender has not locked the session, or its lock has ended.
	ErrSessionLost = errors.New("the session is not locked by this connection, or the lock has expired")
	// ErrSessionsFull: the queue has reached its limit of waiting receivers, or of session states.
	ErrSessionsFull = errors.New("the queue has reached its limit of session states or waiting receivers")
	// ErrSessionState: the state is too large.
	ErrSessionState = errors.New("the session state is too large")
	// ErrSessionID: the id is too long.
	ErrSessionID = errors.New("a session id may have at most 128 bytes")
	// ErrNoSessions: the queue has no sessions.
	ErrNoSessions = errors.New("the queue does not require sessions, so no session can be locked")
	// ErrSessionNeeded: a message without a session id was published, or a consumer names no session.
	ErrSessionNeeded = errors.New("the queue requires sessions: a message needs a session id, and a receiver must lock a session")
)

// UseSession is a command about a session that a consumer of the same connection has locked. From any actor;
// UseSessionReply comes back.
type UseSession struct {
	Request
	ID         string
	Connection Address
	// Renew restarts the lock's time. Set stores State; nil deletes the stored state. With neither, the state is read.
	Renew, Set bool
	State      []byte
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (u *UseSession) Answer(f Cause) (Address, any) {
	return u.ReplyTo, &UseSessionReply{Reply: u.Done(gone(f, u.Queue, u.VHost))}
}

// UseSessionReply answers UseSession. A stored state is in the journal.
type UseSessionReply struct {
	Reply
	Until int64  // end of the lock, wall ms
	State []byte // nil for none
}

// MaxSessions is the limit of ids in one SessionList.
const MaxSessions = 1000

// ListSessions asks for session ids in ascending order. From any actor; SessionList comes back. It does not renew the
// lease.
type ListSessions struct {
	Request
	// Since, unless 0, selects sessions whose states were set at that time or later, wall ms. If it is 0, all sessions
	// with messages or a state are listed.
	Since int64
	Skip  int
	Limit int // 1 to MaxSessions; any other value means MaxSessions
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (l *ListSessions) Answer(f Cause) (Address, any) {
	return l.ReplyTo, &SessionList{Reply: l.Done(gone(f, l.Queue, l.VHost))}
}

// SessionList answers ListSessions.
type SessionList struct {
	Reply
	IDs []string
}
