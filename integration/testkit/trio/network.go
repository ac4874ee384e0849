package trio

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"candlemark/internal/storage/cluster/wire"
)

// Network connects nodes by name. Bytes on a cut link wait until it is mended, as does the end of a connection.
type Network struct {
	mu        sync.Mutex
	changed   sync.Cond
	listeners map[string]*listener
	cut       map[link]bool
	pipes     map[net.Conn]struct{}
	closed    bool
	pumps     sync.WaitGroup
}

// link is one direction between two nodes.
type link struct{ from, to string }

// NewNetwork returns a network without nodes.
func NewNetwork() *Network {
	n := &Network{listeners: map[string]*listener{}, cut: map[link]bool{}, pipes: map[net.Conn]struct{}{}}
	n.changed.L = &n.mu
	return n
}

// Cut cuts the link from one node to another, or mends it.
func (n *Network) Cut(from, to string, cut bool) {
	n.mu.Lock()
	n.cut[link{from, to}] = cut
	n.mu.Unlock()
	n.changed.Broadcast()
}

// Reset ends all connections; nodes may connect again at once.
func (n *Network) Reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.pipes {
		_ = c.Close()
	}
}

// Close ends all connections, and the network.
func (n *Network) Close() {
	n.mu.Lock()
	n.closed = true
	for c := range n.pipes {
		_ = c.Close()
	}
	n.mu.Unlock()
	n.changed.Broadcast()
	n.pumps.Wait()
}

// Of returns the network as a node sees it. Addresses are names of nodes.
func (n *Network) Of(name string) wire.Network { return seat{n, name} }

type seat struct {
	*Network
	name string
}

// Listen implements wire.Network.
func (s seat) Listen(address string) (net.Listener, error) {
	l := &listener{network: s.Network, name: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners[address] != nil {
		return nil, syscall.EADDRINUSE
	}
	s.listeners[address] = l
	return l, nil
}

// Dial implements wire.Network.
func (s seat) Dial(address string, patience time.Duration) (net.Conn, error) {
	limit := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer limit.Stop()
	end := time.Now().Add(patience)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.cut[link{s.name, address}] || s.cut[link{address, s.name}] {
		if s.closed || !time.Now().Before(end) {
			return nil, os.ErrDeadlineExceeded
		}
		s.changed.Wait()
	}
	l := s.listeners[address]
	if l == nil || s.closed {
		return nil, syscall.ECONNREFUSED
	}
	ours, theirs := s.end(address), s.end(s.name)
	s.pump(ours.far, theirs.far, link{s.name, address})
	s.pump(theirs.far, ours.far, link{address, s.name})
	s.pumps.Go(func() {
		select {
		case l.conns <- theirs:
		case <-l.closed:
			_ = theirs.Close()
		}
	})
	return ours, nil
}

// end is one end of a connection; far is where its bytes leave it.
type end struct {
	net.Conn
	far    net.Conn
	remote addressOf
}

// RemoteAddr implements net.Conn.
func (e *end) RemoteAddr() net.Addr { return e.remote }

type addressOf string

// Network implements net.Addr.
func (addressOf) Network() string { return "memory" }

// String implements net.Addr.
func (a addressOf) String() string { return string(a) + ":1" }

// end makes the end of a connection with a peer. The network is locked.
func (n *Network) end(peer string) *end {
	near, far := net.Pipe()
	n.pipes[far] = struct{}{}
	return &end{near, far, addressOf(peer)}
}

// pump carries bytes from one end to the other while the link is not cut.
func (n *Network) pump(from, to net.Conn, over link) {
	n.pumps.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			count, err := from.Read(buffer)
			n.mu.Lock()
			for n.cut[over] && !n.closed {
				n.changed.Wait()
			}
			n.mu.Unlock()
			_, _ = to.Write(buffer[:count]) // an end that is closed discards it
			if err != nil {
				break
			}
		}
		_ = to.Close()
		n.mu.Lock()
		delete(n.pipes, to)
		n.mu.Unlock()
	})
}

type listener struct {
	network *Network
	name    string
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.network.mu.Lock()
		delete(l.network.listeners, l.name)
		l.network.mu.Unlock()
	})
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return addressOf(l.name) }

// Isolate cuts all links of a node, both ways, or mends them.
func (c *Trio) Isolate(name string, cut bool) {
	for _, other := range Names {
		if other != name {
			c.Network.Cut(name, other, cut)
			c.Network.Cut(other, name, cut)
		}
	}
}
