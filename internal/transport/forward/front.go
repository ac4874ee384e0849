package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/transport/stream"

	"github.com/rs/zerolog"
)

// Kinds of listeners, by what their clients speak.
const (
	AMQP          = "amqp"
	AMQPS         = "amqps"
	HTTP          = "http"
	HTTPS         = "https"
	Metrics       = "http/prometheus"
	ServiceBus    = "http/servicebus"
	ServiceBusTLS = "https/servicebus"
)

// Leader is who serves clients; the zero value if that is nobody, or this node.
type Leader struct {
	Identity string
	Term     uint64
}

// Client is a client's connection as its node sees it.
type Client struct {
	Kind          string
	Remote, Local net.Addr
}

// Config of a Front.
type Config struct {
	// Dial connects with the leader for a client.
	Dial func(Leader, Client) (net.Conn, error)
	// Wait is how long clients wait for a leader, 10 s by default.
	Wait time.Duration
	// SendTimeout is how long a client may read nothing, 15 s by default; negative for no limit.
	SendTimeout time.Duration
	// Most is how many connections may wait or be passed on at the same time.
	Most int
	// Listen opens a listener; stream.Listen by default.
	Listen func(kind, address string) (net.Listener, error)
	Log    zerolog.Logger
}

const (
	defaultWait = 10 * time.Second
	again       = 100 * time.Millisecond // between two attempts to reach the leader
	// maxDials is how many connections to the leader are established at the same time: less than the hellos that its port takes.
	maxDials  = 8
	lastWords = 5 * time.Second
)

// Front accepts clients.
type Front struct {
	cfg   Config
	ended chan struct{}
	// patience with clients that read nothing
	patience stream.Patience

	mu      sync.Mutex
	ports   []*port
	leader  *office
	changed chan struct{} // closed when leader, or what a port serves, changes
	links   map[*link]struct{}
	count   int // connections that wait or are passed on
	closed  bool
	// suspended: clients are refused.
	suspended bool
}

// port is a listener and who takes its connections.
type port struct {
	net.Listener
	kind, address string
	broker        *Listener // nil while none takes connections
	local         *Listener // for a local kind
}

// New returns a front without listeners.
func New(cfg Config) *Front {
	if cfg.Wait == 0 {
		cfg.Wait = defaultWait
	}
	if cfg.Listen == nil {
		cfg.Listen = func(_, address string) (net.Listener, error) { return stream.Listen(address) }
	}
	return &Front{
		cfg: cfg, leader: newOffice(Leader{}), ended: make(chan struct{}), patience: stream.NewPatience(cfg.SendTimeout, clock.New()), changed: make(chan struct{}), links: map[*link]struct{}{},
	}
}

// Open opens a listener, and accepts connections of a kind. Errors: of the system, for example that the address is in use.
func (f *Front) Open(kind, address string) error {
	l, err := f.cfg.Listen(kind, address)
	if err != nil {
		return err
	}
	p := &port{Listener: l, kind: kind, address: address}
	f.mu.Lock()
	f.ports = append(f.ports, p)
	f.mu.Unlock()
	go f.accept(p)
	return nil
}

// Addresses returns the addresses of the listeners of a kind.
func (f *Front) Addresses(kind string) (list []net.Addr) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.ports {
		if p.kind == kind {
			list = append(list, p.Addr())
		}
	}
	return list
}

// Each calls do for every listener, with what it was opened for.
func (f *Front) Each(do func(kind, address string, l net.Listener)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.ports {
		do(p.kind, p.address, p.Listener)
	}
}

// Listener is a listener of Open for one server. Its connections are also those that other nodes pass on.
type Listener struct {
	front  *Front
	port   *port
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.port.Addr() }

// Close implements net.Listener. The port goes on: its connections wait for another server.
func (l *Listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.front.mu.Lock()
		defer l.front.mu.Unlock()
		if l.port.broker == l {
			l.port.broker = nil
		}
		if l.port.local == l {
			l.port.local = nil
		}
		l.front.change()
	})
	return nil
}

// give hands over a connection; false if the listener is closed.
func (l *Listener) give(c net.Conn) bool {
	select {
	case l.conns <- c:
		return true
	case <-l.closed:
		return false
	}
}

// Listener returns the listener that Open has opened, for the broker of this node while it leads. Errors: there is none.
func (f *Front) Listener(kind, address string) (net.Listener, error) {
	return f.serve(kind, address, func(p *port) **Listener { return &p.broker })
}

// Local returns the listener that Open has opened, for a server that takes its connections while the broker does not.
func (f *Front) Local(kind, address string) (net.Listener, error) {
	return f.serve(kind, address, func(p *port) **Listener { return &p.local })
}

func (f *Front) serve(kind, address string, of func(*port) **Listener) (net.Listener, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.ports {
		if place := of(p); p.kind == kind && p.address == address && *place == nil {
			*place = &Listener{front: f, port: p, conns: make(chan net.Conn), closed: make(chan struct{})}
			f.change()
			return *place, nil
		}
	}
	return nil, fmt.Errorf("%s at %s was not opened", kind, address)
}

// change wakes everything that waits. The front is locked.
func (f *Front) change() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Suspend closes the connections that this node passes on, and refuses new ones, until it is called with false.
func (f *Front) Suspend(suspended bool) {
	f.mu.Lock()
	f.suspended = suspended
	leader := f.leader.Leader
	f.mu.Unlock()
	if suspended {
		f.Follow(Leader{})
		f.Follow(leader)
	}
}

// Follow names the leader, and ends all connections that were passed on to another one, or in another term, at once.
func (f *Front) Follow(l Leader) {
	f.mu.Lock()
	if l != f.leader.Leader {
		close(f.leader.over)
		f.leader = newOffice(l)
	}
	var over []*link
	for k := range f.links {
		if k.leader != l {
			over = append(over, k)
		}
	}
	f.change()
	f.mu.Unlock()
	for _, k := range over {
		_ = k.Close()
	}
}

// Count returns how many connections wait or are passed on.
func (f *Front) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Close closes the listeners and all connections that the front has.
func (f *Front) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	close(f.ended)
	ports := f.ports
	f.mu.Unlock()
	var err error
	for _, p := range ports {
		err = errors.Join(err, p.Close())
	}
	f.Follow(Leader{})
	return err
}

// accept takes the connections of a port. It survives temporary errors, such as running out of file descriptors, by waiting a little.
func (f *Front) accept(p *port) {
	for {
		conn, err := p.Accept()
		switch {
		case err == nil:
			f.admit(p, conn)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			select {
			case <-time.After(again):
			case <-f.ended:
				return
			}
		}
	}
}

// admit gives a connection to the broker, or lets it wait.
func (f *Front) admit(p *port, conn net.Conn) {
	f.mu.Lock()
	broker := p.broker
	f.mu.Unlock()
	switch {
	case broker != nil && broker.give(conn):
	case !f.enterAt(p):
		_ = conn.Close()
	default:
		go func() {
			defer f.leave()
			f.wait(p, conn)
		}()
	}
}

// Pass passes a connection of a server of Local on to the leader, behind bytes that were read from it, and closes it at the end.
func (f *Front) Pass(kind string, conn net.Conn, read []byte) {
	if above, ok := conn.(interface{ NetConn() net.Conn }); ok { // the patience of Local
		conn = above.NetConn()
	}
	if !f.enter() {
		_ = conn.Close()
		return
	}
	defer f.leave()
	ctx, cancel := context.WithTimeout(context.Background(), f.cfg.Wait)
	k, err := f.dial(ctx, Client{Kind: kind, Remote: conn.RemoteAddr(), Local: conn.LocalAddr()})
	cancel()
	if err == nil {
		if _, err = k.Write(read); err == nil {
			k.pass(conn)
			return
		}
		_ = k.Close()
	}
	_ = conn.Close()
}

// enter counts a connection that waits or is passed on; false if there are too many, or clients are refused.
func (f *Front) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count >= f.cfg.Most || f.suspended {
		return false
	}
	f.count++
	return true
}

// enterAt is enter for a port: the servers of Local also answer while clients are refused.
func (f *Front) enterAt(p *port) bool {
	f.mu.Lock()
	local := p.local != nil
	if local {
		f.count++
	}
	f.mu.Unlock()
	return local || f.enter()
}

func (f *Front) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count--
}

// wait finds out who serves a connection, and passes it on if that is another node.
func (f *Front) wait(p *port, conn net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), f.cfg.Wait)
	defer cancel()
	c := Client{Kind: p.kind, Remote: conn.RemoteAddr(), Local: conn.LocalAddr()}
	for {
		f.mu.Lock()
		broker, local, changed := p.broker, p.local, f.changed
		f.mu.Unlock()
		switch {
		case broker != nil && broker.give(conn), broker == nil && local != nil && local.give(f.patience.Patient(conn)):
			return
		}
		if broker == nil && local == nil {
			if k, err := f.link(ctx, c); err == nil {
				cancel()
				k.pass(conn)
				return
			}
		}
		if !f.pause(ctx, changed) {
			_ = conn.Close()
			return
		}
	}
}

// pause waits for a change, or until another attempt is due; false if it is too late for one.
func (f *Front) pause(ctx context.Context, changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	case <-time.After(again):
		return true
	case <-ctx.Done():
		return false
	case <-f.ended:
		return false
	}
}
