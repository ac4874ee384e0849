package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
)

// Bounds on sessions; times are in ms.
const (
	Idle        = 2 * 3600 * 1000  // from the last use to the end
	Whole       = 12 * 3600 * 1000 // from the beginning to the end
	MaxSessions = 1000
	MaxOfUser   = 20
)

// Session is a logged-in user. Times are in ms of the caller's clock.
type Session struct {
	User string
	// Login identifies the account and its password at that time (auth.Users.Login).
	Login       uint64
	Began, Used int64
}

// Ends returns when it does unless it is used again.
func (s *Session) Ends() int64 { return min(s.Used+Idle, s.Began+Whole) }

// Table has all sessions of a server. The zero value is empty. It is safe for concurrent use.
type Table struct {
	mu  sync.Mutex
	all map[key]*Session
}

// key is the hash of a token.
type key [sha256.Size]byte

func keyOf(token string) key { return sha256.Sum256([]byte(token)) }

// Begin makes a session, which is found by the token: 256 random bits as text.
func (t *Table) Begin(user string, login uint64, now int64) (token string, s Session) {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // it does not fail
	token = base64.RawURLEncoding.EncodeToString(bits[:])
	s = Session{User: user, Login: login, Began: now, Used: now}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.makeRoom(user, now)
	if t.all == nil {
		t.all = map[key]*Session{}
	}
	kept := s
	t.all[keyOf(token)] = &kept
	return token, s
}

// makeRoom ends expired sessions and, if one more would be too many of the user or of all users, the least recently
// used one. mu is held.
func (t *Table) makeRoom(user string, now int64) {
	var oldest, oldestOfUser key
	first, firstOfUser, ofUser := int64(0), int64(0), 0
	for k, s := range t.all {
		if now >= s.Ends() {
			delete(t.all, k)
			continue
		}
		if first == 0 || s.Used < first {
			oldest, first = k, s.Used
		}
		if s.User != user {
			continue
		}
		if ofUser++; firstOfUser == 0 || s.Used < firstOfUser {
			oldestOfUser, firstOfUser = k, s.Used
		}
	}
	if ofUser >= MaxOfUser {
		delete(t.all, oldestOfUser)
	} else if len(t.all) >= MaxSessions {
		delete(t.all, oldest)
	}
}

// Use finds the session of a token, and prolongs it.
func (t *Table) Use(token string, now int64) (Session, bool) { return t.find(token, now, true) }

// Look finds the session of a token without prolonging it.
func (t *Table) Look(token string, now int64) (Session, bool) { return t.find(token, now, false) }

func (t *Table) find(token string, now int64, use bool) (Session, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := keyOf(token)
	s := t.all[k]
	switch {
	case s == nil:
		return Session{}, false
	case now >= s.Ends():
		delete(t.all, k)
		return Session{}, false
	case use:
		s.Used = max(s.Used, now)
	}
	return *s, true
}

// End ends the session of a token, if it has one.
func (t *Table) End(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, keyOf(token))
}
