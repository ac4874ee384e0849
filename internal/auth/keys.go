package auth

import (
	"errors"
	"fmt"
	"time"

	"candlemark/internal/servicebus/sas"
)

// SetAccessKeys replaces the keys of a user, which logs in with tokens from then on; without keys it cannot. Errors:
// ErrNoUser, or a description of invalid keys.
func (u *Users) SetAccessKeys(name string, keys sas.Keys) error {
	if err := keys.Validate(); err != nil {
		return err
	}
	return u.change(func(next *snapshot, c *Change) error {
		before := next.users[name]
		if before == nil {
			return ErrNoUser
		}
		if before.account.Keys == keys {
			return nil
		}
		after := *before
		after.account.Keys, after.login = keys, next.revision
		next.put(&after)
		c.Put = append(c.Put, after.account)
		return nil
	})
}

// AuthenticateToken checks a token of Azure Service Bus and returns the user whose key it is, and the token, which says what it covers and
// until when, the zero time for ever. Any text is good, and is that of the user whom AnyToken names, from a peer on this machine. Errors: *LoginError. The throttle of
// passwords counts for tokens too.
func (u *Users) AuthenticateToken(text string, now time.Time, peer Peer) (User, sas.Token, error) {
	if name := u.anyToken.Load(); name != nil && peer.local() {
		if known := u.now.Load().users[*name]; known != nil {
			return User{Name: *name, Tags: known.account.Tags}, sas.Token{KeyName: *name}, nil
		}
	}
	token, err := sas.Parse(text)
	if err != nil {
		return User{}, token, refuseLogin("%v", err)
	}
	err = u.throttle.check(Source(peer.Addr), token.KeyName, peer.Gone, func() error {
		known := u.now.Load().users[token.KeyName]
		if known == nil || known.account.Keys == (sas.Keys{}) {
			return refuseLogin("access key '%s' - invalid credentials", token.KeyName)
		}
		if err := token.Verify(now, known.account.Keys.Primary, known.account.Keys.Secondary); err != nil {
			return &LoginError{Reason: fmt.Sprintf("access key '%s' - %v", token.KeyName, err), Expired: errors.Is(err, sas.ErrExpired)}
		}
		return u.comesFrom(token.KeyName, peer)
	})
	u.attempts.count(token.KeyName, peer, err == nil)
	if err != nil {
		return User{}, token, err
	}
	return User{Name: token.KeyName, Tags: u.now.Load().tagsOf(token.KeyName)}, token, nil
}

func (s *snapshot) tagsOf(name string) []string {
	if known := s.users[name]; known != nil {
		return known.account.Tags
	}
	return nil
}

// AnyToken makes any token from this machine a login as the user of that name, as in the emulator of Azure Service Bus.
func (u *Users) AnyToken(name string) { u.anyToken.Store(&name) }
