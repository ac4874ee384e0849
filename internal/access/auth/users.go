package auth

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"candlemark/internal/measure/events"
	"candlemark/policies/pattern"
)

// Errors of changes that name missing objects.
var (
	ErrNoUser  = errors.New("no such user")
	ErrNoVHost = errors.New("no such vhost")
)

// ErrProtected: a virtual host is protected from deletion.
var ErrProtected = errors.New("vhost is protected from deletion")

// ErrNotStored wraps the error of an observer: the change was valid, but not stored.
var ErrNotStored = errors.New("the change could not be stored")

// Options configure how users log in.
type Options struct {
	// Loopback names the users who may only come from this machine (SetLoopback).
	Loopback []string
	// CertificateLogin is the place of the user's name for EXTERNAL.
	CertificateLogin CertificateLogin
	// Mechanisms of SASL that clients of AMQP may log in with; nil for all of them.
	Mechanisms []string
	// AnonymousUser is the user that logs in with ANONYMOUS, if AnonymousPassword is its password; "": none.
	AnonymousUser, AnonymousPassword string
	// DefaultQueueType is the default queue type of virtual hosts created without one.
	DefaultQueueType string
	// Throttled is called when logins from a source (an address, or a network of IPv6) were refused because too many
	// had failed: for the first one, then every 10 s with the number of others. It must not call back. nil: no calls.
	Throttled func(source string, refused int)
}

// Users are all users with their permissions, and the virtual hosts of these permissions. Checks use an immutable
// snapshot, without a lock.
//
// By returns another handle to the same users.
type Users struct {
	*keeper
	by *events.Origin
}

// keeper holds the state that all handles share.
type keeper struct {
	options    Options
	everything *pattern.Pattern // .* is the most frequent expression
	throttle   *throttle
	loopback   atomic.Pointer[[]string]
	anyToken   atomic.Pointer[string] // set by AnyToken, nil for none
	attempts   attempts

	now      atomic.Pointer[snapshot]
	mu       sync.Mutex // held while the next snapshot is made
	observer func(Change) error
	events   *events.Hub
}

var (
	_ Authenticator = (*Users)(nil)
	_ Permissions   = (*Users)(nil)
)

// snapshot is the state at one time. It is immutable.
type snapshot struct {
	revision uint64
	replaced chan struct{} // closed when the next one is in effect
	users    map[string]*user
	vhosts   map[string]VHost
}

type user struct {
	account Account
	login   uint64                            // the revision that made the account or gave it its password
	grants  map[string]*grant                 // by vhost
	topics  map[string]map[string]*topicGrant // by vhost and exchange
}

// Change is one step from a snapshot to the next. Put and Deleted hold values of the types Account, VHost, Grant and
// TopicGrant; for Deleted only the names count.
type Change struct {
	Revision uint64 // one more than before
	Put      []any
	Deleted  []any
}

// NewUsers returns Users without accounts.
func NewUsers(o Options) *Users {
	u := &Users{keeper: &keeper{options: o, throttle: newThrottle(o.Throttled)}}
	u.everything, _ = pattern.Compile(".*")
	u.now.Store(&snapshot{replaced: make(chan struct{})})
	u.SetLoopback(o.Loopback)
	return u
}

// SetLoopback names the users who may only come from this machine, from the next login on.
func (u *Users) SetLoopback(names []string) { u.loopback.Store(&names) }

// Founder is the first user of new Users, with the virtual hosts where it has permissions.
type Founder struct {
	Name, Password, VHost  string
	Tags                   []string
	Configure, Write, Read string
}

// Guest returns the default Founder of a broker: an administrator.
func Guest() Founder {
	return Founder{Name: "guest", Password: "guest", VHost: "/", Tags: []string{"administrator"}, Configure: ".*", Write: ".*", Read: ".*"}
}

// NewGuest returns the Users of a new broker: the virtual host / and the administrator guest, from this machine only,
// with the password guest.
func NewGuest() *Users {
	u := NewUsers(Options{Loopback: []string{"guest"}})
	if err := u.Found(Guest()); err != nil {
		panic(err) // Guest is valid
	}
	return u
}

// Found adds a user and its virtual host to empty Users, in one change. The error describes an invalid user.
func (u *Users) Found(by Founder) error {
	v := VHost{Name: by.VHost, Description: "Default virtual host", Tags: []string{}, DefaultQueueType: u.options.DefaultQueueType}
	if err := v.Validate(); err != nil {
		return err
	}
	permissions, err := u.compile(Grant{User: by.Name, VHost: v.Name, Configure: by.Configure, Write: by.Write, Read: by.Read})
	if err != nil {
		return err
	}
	first := &user{
		account: Account{Name: by.Name, Tags: list(by.Tags), Hash: HashPassword(by.Password), Algorithm: SHA256},
		grants:  map[string]*grant{v.Name: permissions},
	}
	return u.change(func(next *snapshot, c *Change) error {
		first.login = next.revision
		next.vhosts, next.users = map[string]VHost{v.Name: v}, map[string]*user{first.account.Name: first}
		c.Put = append(c.Put, v, first.account, permissions.Grant)
		return nil
	})
}

// Observe makes Users call observer with every change before it takes effect, one at a time. If it returns an error,
// the change is refused with ErrNotStored. The observer stores the changes.
func (u *Users) Observe(observer func(Change) error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.observer = observer
}

// By returns the same users with an origin for the events of changes; nil for the broker's own.
func (u *Users) By(o *events.Origin) *Users { return &Users{u.keeper, o} }

// PublishTo publishes all further changes as events of hub.
func (u *Users) PublishTo(hub *events.Hub) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.events = hub
}

// Revision returns the number of the newest change, 0 before the first.
func (u *Users) Revision() uint64 { return u.now.Load().revision }

// Generation implements Permissions.
func (u *Users) Generation() uint64 { return u.Revision() }

// Replaced returns a channel that is closed by the next change, once it is in effect.
func (u *Users) Replaced() <-chan struct{} { return u.now.Load().replaced }

// change calls f to turn a copy of the newest snapshot into the next one. f replaces the maps that it changes. If c
// stays empty, there is no change.
func (u *Users) change(f func(next *snapshot, c *Change) error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.now.Load()
	next := *before
	next.revision, next.replaced = before.revision+1, make(chan struct{})
	c := Change{Revision: next.revision}
	if err := f(&next, &c); err != nil {
		return err
	}
	if len(c.Put)+len(c.Deleted) == 0 {
		return nil
	}
	if u.observer != nil {
		if err := u.observer(c); err != nil {
			return fmt.Errorf("%w: %w", ErrNotStored, err)
		}
	}
	u.now.Store(&next)
	close(before.replaced)
	u.publish(before, c)
	return nil
}

// expression compiles an expression of a grant. The empty one stands for ^$.
func (u *Users) expression(source string) (*pattern.Pattern, error) {
	switch source {
	case ".*":
		return u.everything, nil
	case "":
		source = "^$"
	}
	return pattern.Compile(source)
}
