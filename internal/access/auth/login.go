package auth

import (
	"fmt"
	"slices"
)

// LoginError is the reason for a refused login, in RabbitMQ's words, for the log: the client learns only that it was
// refused. It wraps ErrRefused.
type LoginError struct {
	Reason string
	// Remote: the user may only log in from this machine.
	Remote bool
	// Expired: the token is valid except that it has expired.
	Expired bool
}

// Error implements error.
func (e *LoginError) Error() string { return e.Reason }

// Unwrap makes it an ErrRefused.
func (e *LoginError) Unwrap() error { return ErrRefused }

func refuseLogin(format string, args ...any) error {
	return &LoginError{Reason: fmt.Sprintf(format, args...)}
}

// Mechanisms implements Authenticator: EXTERNAL is offered only to peers that it would admit, with a verified
// certificate of a user; so is ANONYMOUS, which Azure's client for Python calls MSSBCBS. Some clients with a password
// would use them wherever they are offered.
func (u *Users) Mechanisms(peer Peer) []string {
	var offered []string
	for _, name := range [...]string{"PLAIN", "AMQPLAIN"} {
		if u.allows(name) {
			offered = append(offered, name)
		}
	}
	for _, name := range [...]string{"EXTERNAL", "ANONYMOUS", "MSSBCBS"} {
		if _, err := u.authenticate(name, nil, peer); err == nil {
			offered = append(offered, name)
		}
	}
	return offered
}

// allows reports whether a mechanism may be offered.
func (u *Users) allows(mechanism string) bool {
	return u.options.Mechanisms == nil || slices.Contains(u.options.Mechanisms, mechanism)
}

// Authenticate implements Authenticator. Passwords are checked as often as the throttle allows; other logins do not
// wait.
func (u *Users) Authenticate(mechanism string, response []byte, peer Peer) (User, error) {
	user, err := u.authenticate(mechanism, response, peer)
	u.attempts.count(user.Name, peer, err == nil)
	if err != nil {
		return User{}, err
	}
	return user, nil
}

// authenticate returns a user with a name even on an error, if the client gave one.
func (u *Users) authenticate(mechanism string, response []byte, peer Peer) (User, error) {
	name, err := u.identify(mechanism, response, peer)
	if err != nil {
		return User{Name: name}, err
	}
	known := u.now.Load().users[name]
	if known == nil {
		return User{Name: name}, invalidCredentials(name)
	}
	if err := u.comesFrom(name, peer); err != nil {
		return User{Name: name}, err
	}
	return User{Name: name, Tags: known.account.Tags}, nil
}

// Login identifies the current account of that name and its password: another number means another account or another
// password; 0 means that there is no such account.
func (u *Users) Login(name string) uint64 {
	if known := u.now.Load().users[name]; known != nil {
		return known.login
	}
	return 0
}

// Again admits a user that has logged in before, without a password, and returns the current user; login is the result
// of Login at that time, before the password was checked. It is not counted as a login attempt. Error: *LoginError.
func (u *Users) Again(name string, login uint64, peer Peer) (User, error) {
	known := u.now.Load().users[name]
	if known == nil || known.login != login {
		return User{}, refuseLogin("user '%s' is not the user who logged in", name)
	}
	if err := u.comesFrom(name, peer); err != nil {
		return User{}, err
	}
	return User{Name: name, Tags: known.account.Tags}, nil
}

// comesFrom checks that the user may log in from the peer's address.
func (u *Users) comesFrom(name string, peer Peer) error {
	if slices.Contains(*u.loopback.Load(), name) && !peer.local() {
		return &LoginError{Reason: fmt.Sprintf("user '%s' can only connect via localhost", name), Remote: true}
	}
	return nil
}

// identify returns the name of the user and checks its credentials.
func (u *Users) identify(mechanism string, response []byte, peer Peer) (string, error) {
	if mechanism == "EXTERNAL" {
		if !u.allows(mechanism) { // clients may use a mechanism that is not offered (Mechanisms)
			return "", refuseLogin("mechanism EXTERNAL is disabled by the setting auth-mechanisms")
		}
		return u.options.CertificateLogin.name(peer)
	}
	if mechanism == "ANONYMOUS" || mechanism == "MSSBCBS" {
		return u.anonymous(peer)
	}
	name, password, err := Credentials(mechanism, response)
	if err != nil {
		return "", err
	}
	if password == "" {
		return name, refuseLogin("user '%s' attempted to log in with a blank password, which is prohibited by the internal authN backend. "+
			"To use TLS/x509 certificate-based authentication, configure the client to use the EXTERNAL authentication mechanism. "+
			"Alternatively change the password for the user to be non-blank.", name)
	}
	return name, u.throttle.check(Source(peer.Addr), name, peer.Gone, func() error {
		if known := u.now.Load().users[name]; known == nil || !known.account.Fits(password) && !known.account.Keys.Has(password) {
			return invalidCredentials(name)
		}
		return u.comesFrom(name, peer)
	})
}

// anonymous returns the user that logs in without a name. Its password must be the configured one, which any client
// could use.
func (u *Users) anonymous(peer Peer) (string, error) {
	name := u.options.AnonymousUser
	if name == "" || !peer.AMQP10 || !u.allows("ANONYMOUS") {
		return "", refuseLogin("mechanism ANONYMOUS is accepted only from AMQP 1.0 clients, if auth-mechanisms includes it and anonymous-login-user is not none")
	}
	if known := u.now.Load().users[name]; known == nil || !known.account.Fits(u.options.AnonymousPassword) {
		return name, invalidCredentials(name)
	}
	return name, nil
}

func invalidCredentials(name string) error {
	return refuseLogin("user '%s' - invalid credentials", name)
}
