package auth

import (
	"errors"
	"fmt"
	"time"

	"candlemark/internal/access/sas"
)

// SetAccessKeys replaces the keys of a user, whose tokens must then be signed with them. Without keys it cannot log in
// with tokens. Errors: ErrNoUser, or a description of invalid keys.
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

// AuthenticateToken checks a token of Azure Service Bus and returns the user whose key signed it, and the token with
// its scope and expiry (the zero time for none). If AnyToken names a user, any text from a peer on this machine is a
// token of that user. Errors: *LoginError. The throttle of passwords applies to tokens too.
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
	var name string
	err = u.throttle.check(Source(peer.Addr), token.KeyName, peer.Gone, func() error {
		var err error
		if name, err = u.now.Load().signer(&token, now); err != nil {
			return err
		}
		return u.comesFrom(name, peer)
	})
	u.attempts.count(token.KeyName, peer, err == nil)
	if err != nil {
		return User{}, token, err
	}
	return User{Name: name, Tags: u.now.Load().tagsOf(name)}, token, nil
}

// signer returns the user whose key signed a token. Error: *LoginError.
func (s *snapshot) signer(t *sas.Token, now time.Time) (string, error) {
	refused := &LoginError{Reason: fmt.Sprintf("access key '%s' - invalid credentials", t.KeyName)}
	for name := range t.Users() {
		known := s.users[name]
		if known == nil || known.account.Keys == (sas.Keys{}) {
			continue
		}
		switch err := t.Verify(now, known.account.Keys.Primary, known.account.Keys.Secondary); {
		case err == nil:
			return name, nil
		case !refused.Expired:
			refused = &LoginError{Reason: fmt.Sprintf("access key '%s' - %v", t.KeyName, err), Expired: errors.Is(err, sas.ErrExpired)}
		}
	}
	return "", refused
}

func (s *snapshot) tagsOf(name string) []string {
	if known := s.users[name]; known != nil {
		return known.account.Tags
	}
	return nil
}

// AnyToken makes any token from this machine a login as the user of that name, as in the emulator of Azure Service Bus.
func (u *Users) AnyToken(name string) { u.anyToken.Store(&name) }
