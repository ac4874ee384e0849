package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
)

// Config of a Port.
type Config struct {
	Secret []byte
	// Addresses returns where a node may listen, by its identity or its address in raft's configuration, which begins with the identity; nothing if it is no member.
	Addresses func(of string) []string
	// Hello returns what this node says of itself: Cluster, Members, From.
	Hello func() Hello
	// Judge decides about a caller; it is called from many goroutines.
	Judge func(Hello) Answer
	// Lost is called when the last connection from a peer has ended.
	Lost func(identity string)
	// Client takes the connection of a client of another node, which Judge has admitted; nil if Judge admits none.
	Client func(net.Conn, Client)
	// Copy takes a connection of KindCopy, and closes it at the end.
	Copy func(net.Conn)
	// Network, unless nil, replaces TCP.
	Network Network
	// TLS, unless nil, encrypts all connections; both sides have a certificate of the same authority.
	TLS TLS
	Log zerolog.Logger
}

// Network connects nodes. Nobody listens at an address: the error of Dial is syscall.ECONNREFUSED.
type Network interface {
	Listen(address string) (net.Listener, error)
	Dial(address string, patience time.Duration) (net.Conn, error)
}

// TLS has the certificates of a node (package certificate).
type TLS interface {
	// Config is for connections that are accepted, Client for a connection to a host.
	Config() *tls.Config
	Client(host string) *tls.Config
}

// tcp is the Network of the machine.
type tcp struct{}

func (tcp) Listen(address string) (net.Listener, error) { return net.Listen("tcp", address) }

func (tcp) Dial(address string, patience time.Duration) (net.Conn, error) {
	return net.DialTimeout("tcp", address, patience)
}

// Port accepts the connections of peers and dials them. It implements raft.StreamLayer.
type Port struct {
	cfg      Config
	listener net.Listener
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
	callers  callers

	mu    sync.Mutex
	links map[*link]struct{} // open
	quiet map[string]time.Time
}

var _ raft.StreamLayer = (*Port)(nil)

// Listen opens a port.
func Listen(address string, cfg Config) (*Port, error) {
	cfg.complete()
	l, err := cfg.Network.Listen(address)
	if err != nil {
		return nil, err
	}
	p := &Port{
		cfg: cfg, listener: l, accepted: make(chan net.Conn), closed: make(chan struct{}),
		links: map[*link]struct{}{}, quiet: map[string]time.Time{},
	}
	go p.run()
	return p, nil
}

func (p *Port) run() {
	for {
		conn, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			select { // too many open files
			case <-time.After(50 * time.Millisecond):
				continue
			case <-p.closed:
				return
			}
		}
		c := p.callers.enter(conn)
		if p.cfg.TLS != nil {
			conn = tls.Server(conn, p.cfg.TLS.Config()) // the handshake is a part of the hello
		}
		go p.welcome(conn, c)
	}
}

func (p *Port) welcome(conn net.Conn, c *caller) {
	h, err := welcome(conn, p.cfg.Secret, p.cfg.Hello(), p.cfg.Judge)
	if evicted := p.callers.leave(c); evicted && err != nil {
		err = errCrowd
	}
	switch {
	case err != nil:
		p.say(conn.RemoteAddr().String(), h.From, err)
		_ = conn.Close()
		return
	case h.Kind == KindClient:
		p.cfg.Client(conn, *h.Client)
		return
	case h.Kind == KindCopy:
		if l, err := p.track(&link{Conn: conn, port: p}); err == nil {
			p.cfg.Copy(l)
		}
		return
	case h.Kind != KindLog:
		_ = conn.Close()
		return
	}
	l, err := p.track(&link{Conn: conn, port: p, from: h.From})
	if err != nil {
		return
	}
	select {
	case p.accepted <- l:
	case <-p.closed:
		_ = l.Close()
	}
}

// say logs why there is no connection with a peer, once a minute for each host, and for each reason that a node with the secret gets.
func (p *Port) say(address, peer string, err error) {
	host, _, _ := net.SplitHostPort(address)
	if errors.Is(err, ErrRefused) {
		host += " " + err.Error()
	}
	p.mu.Lock()
	now := time.Now()
	silent := now.Sub(p.quiet[host]) < time.Minute
	if len(p.quiet) > 1000 {
		clear(p.quiet)
	}
	if !silent {
		p.quiet[host] = now
	}
	p.mu.Unlock()
	if !silent {
		p.cfg.Log.Warn().Str("address", address).Str("peer", peer).Err(err).Msg("a connection between nodes of the cluster was refused")
	}
}

// Accept implements net.Listener: connections of the log.
func (p *Port) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It ends all connections, too, as the end of the process does.
func (p *Port) Close() error {
	p.once.Do(func() { close(p.closed) })
	err := p.listener.Close() // first: peers whose connections end ask whether somebody still listens
	p.mu.Lock()
	open := slices.Collect(maps.Keys(p.links))
	p.mu.Unlock()
	for _, l := range open {
		_ = l.Close()
	}
	return err
}

// Addr implements net.Listener.
func (p *Port) Addr() net.Addr { return p.listener.Addr() }

// Dial implements raft.StreamLayer; the address begins with an identity.
func (p *Port) Dial(to raft.ServerAddress, patience time.Duration) (net.Conn, error) {
	return p.dialTracked(KindLog, string(to), patience)
}

// DialCopy opens a connection for a copy of the data to the node with an address as of Dial. Errors: ErrRefused, ErrSecret, or of the network.
func (p *Port) DialCopy(to string, patience time.Duration) (net.Conn, error) {
	return p.dialTracked(KindCopy, to, patience)
}

func (p *Port) dialTracked(kind, to string, patience time.Duration) (net.Conn, error) {
	h := p.cfg.Hello()
	h.Kind = kind
	h.To, _, _ = strings.Cut(to, " ")
	conn, err := p.dial(h, to, patience)
	if err != nil {
		return nil, err
	}
	return p.track(&link{Conn: conn, port: p})
}

// DialClient opens a connection that carries the bytes of a client to the node with an identity. Errors: ErrRefused, also because that
// node does not lead in this term; ErrSecret; or of the network.
func (p *Port) DialClient(to string, c Client, patience time.Duration) (net.Conn, error) {
	h := p.cfg.Hello()
	h.Kind, h.To, h.Client = KindClient, to, &c
	return p.dial(h, to, patience)
}

// dial calls the node h.To at the first of its addresses where it is.
func (p *Port) dial(h Hello, to string, patience time.Duration) (conn net.Conn, err error) {
	err = fmt.Errorf("%s is not a member of the cluster", h.To)
	for _, address := range p.cfg.Addresses(to) {
		if conn, err = p.call(h, address, patience); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// call calls the node h.To at an address.
func (p *Port) call(h Hello, address string, patience time.Duration) (net.Conn, error) {
	conn, err := p.connect(address, patience)
	if err != nil {
		return nil, err
	}
	if _, err := greet(conn, p.cfg.Secret, h); err != nil {
		if differs(err) {
			p.say(address, h.To, err)
		}
		return nil, fmt.Errorf("%s at %s: %w", h.To, address, errors.Join(err, conn.Close()))
	}
	return conn, nil
}

// connect connects to an address, with TLS if there are certificates.
func (p *Port) connect(address string, patience time.Duration) (net.Conn, error) {
	conn, err := p.cfg.Network.Dial(address, patience)
	if err != nil || p.cfg.TLS == nil {
		return conn, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return tls.Client(conn, p.cfg.TLS.Client(host)), nil
}

// differs reports whether the settings of two nodes do not fit, rather than that their connection has ended.
func differs(err error) bool {
	var unverified *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var alert tls.AlertError
	return errors.Is(err, ErrRefused) || errors.Is(err, ErrSecret) || errors.Is(err, errHello) || errors.Is(err, errEnded) ||
		errors.As(err, &unverified) || errors.As(err, &plain) || errors.As(err, &alert)
}

// track adds a connection to those that Close ends.
func (p *Port) track(l *link) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return nil, errors.Join(net.ErrClosed, l.Conn.Close())
	default:
		p.links[l] = struct{}{}
		return l, nil
	}
}

// Ask asks the node at an address who it is, with KindAsk or KindJoin.
func (p *Port) Ask(address, kind string) (Answer, error) {
	h := p.cfg.Hello()
	h.Kind = kind
	return p.ask(address, h)
}

// MayJoin asks the node at an address whether a new life of this node could become a member of its cluster.
func (p *Port) MayJoin(address string) error {
	h := p.cfg.Hello()
	h.Kind, h.Joins = KindAsk, true
	_, err := p.ask(address, h)
	return err
}

// Command gives a command to the node with an identity, at an address. While nobody listens there, or the node says that it is Starting, it tries again, for
// restartPatience: a node that has just lost the leadership starts its program again.
func (p *Port) Command(to, address, command string) error {
	for limit := time.Now().Add(restartPatience); ; {
		h := p.cfg.Hello()
		h.Kind, h.To = command, to
		a, err := p.ask(address, h)
		if !errors.Is(err, syscall.ECONNREFUSED) && !strings.HasSuffix(a.Error, Starting) || time.Now().After(limit) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-p.closed:
			return err
		}
	}
}

const restartPatience = 10 * time.Second

// Starting is the end of the reason for which a node refuses everything until it knows its members.
const Starting = " is starting"

// Ask asks as Port.Ask does, for a node that does not listen yet, what a Hello of its own says.
func Ask(address string, h Hello, cfg Config) (Answer, error) {
	cfg.complete()
	return (&Port{cfg: cfg}).ask(address, h)
}

// complete sets the network of the machine, unless there is another one.
func (c *Config) complete() {
	if c.Network == nil {
		c.Network = tcp{}
	}
}

// Report asks a node how it is.
func (p *Port) Report(identity string) (a Answer, err error) {
	h := p.cfg.Hello()
	h.Kind, h.Report = KindAsk, true
	for _, address := range p.cfg.Addresses(identity) {
		if a, err = p.ask(address, h); err == nil {
			break
		}
	}
	return a, err
}

func (p *Port) ask(address string, h Hello) (Answer, error) {
	conn, err := p.connect(address, Patience)
	if err != nil {
		return Answer{}, err
	}
	a, err := greet(conn, p.cfg.Secret, h)
	return a, errors.Join(err, conn.Close())
}

// Refuses reports whether nobody listens at the address of a peer: its process has ended.
func (p *Port) Refuses(identity string) bool {
	list := p.cfg.Addresses(identity)
	for _, address := range list {
		conn, err := p.cfg.Network.Dial(address, 200*time.Millisecond)
		if err == nil {
			_ = conn.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return false
		}
	}
	return len(list) > 0
}
