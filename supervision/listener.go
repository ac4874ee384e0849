package supervision

import (
	"errors"
	"net"
	"time"

	"candlemark/internal/transport/stream"
)

var errStopping = errors.New("broker is stopping")

// Listen opens an AMQP listener on address, host:port, with port 0 for any free port, and serves it. It returns the
// actual address.
func (n *Node) Listen(address string) (net.Addr, error) {
	l, err := stream.Listen(address)
	if err != nil {
		return nil, err
	}
	if err := n.Serve(l); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l.Addr(), nil
}

// Serve accepts connections from l until the node stops, which closes l.
func (n *Node) Serve(l net.Listener) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopping {
		return errStopping
	}
	n.listeners = append(n.listeners, l)
	n.serving.Go(func() { n.accept(l) })
	return nil
}

// accept survives temporary errors, such as running out of file descriptors, by waiting a little.
func (n *Node) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			n.Connect(n.loops.Take(conn))
		case errors.Is(err, net.ErrClosed):
			return
		default:
			n.mu.Lock()
			stopping := n.stopping
			n.mu.Unlock()
			if stopping {
				return
			}
			n.sockets.Failed(err)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// Connect makes conn a connection of the broker, as if it had been accepted.
func (n *Node) Connect(conn net.Conn) {
	if !n.sockets.Enter() {
		_ = conn.Close()
		return
	}
	n.asker.Post(n.root, accepted{conn})
}

// refuseConnection closes a connection passed to Connect.
func (n *Node) refuseConnection(conn net.Conn) {
	_ = conn.Close()
	n.sockets.Leave()
}
