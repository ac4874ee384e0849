package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"candlemark/internal/transport/socket"
	"candlemark/internal/transport/stream"
)

// errNoLeader: no node serves clients at the moment.
var errNoLeader = errors.New("no node leads the cluster")

// office is a leader, with what has to end with it. The first one has no leader.
type office struct {
	Leader
	dials chan struct{} // slots
	over  chan struct{} // closed when another leader is known
}

func newOffice(l Leader) *office {
	return &office{Leader: l, dials: make(chan struct{}, maxDials), over: make(chan struct{})}
}

// link is a connection to the leader for one client.
type link struct {
	net.Conn
	front  *Front
	leader Leader
	once   sync.Once
}

// link connects with the leader of this moment for a client. Errors: there is none, it could not be reached, another one is known now, or ctx has ended.
func (f *Front) link(ctx context.Context, c Client) (*link, error) {
	f.mu.Lock()
	leader := f.leader
	f.mu.Unlock()
	if leader.Leader == (Leader{}) {
		return nil, errNoLeader
	}
	conn, err := f.connect(ctx, leader, c)
	if err != nil {
		return nil, err
	}
	k := &link{Conn: conn, front: f, leader: leader.Leader}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leader != leader || f.closed {
		return nil, errors.Join(errNoLeader, conn.Close())
	}
	f.links[k] = struct{}{}
	return k, nil
}

// connect connects with a leader. It does not wait for one that answers nothing when another one is known.
func (f *Front) connect(ctx context.Context, leader *office, c Client) (net.Conn, error) {
	var failed error
	select {
	case leader.dials <- struct{}{}:
	case <-leader.over:
		return nil, errNoLeader
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.ended:
		return nil, net.ErrClosed
	}
	got := make(chan net.Conn)
	go func() {
		conn, err := f.cfg.Dial(leader.Leader, c)
		<-leader.dials
		failed = err
		select {
		case got <- conn:
		case <-leader.over:
			if conn != nil {
				_ = conn.Close()
			}
		}
	}()
	select {
	case conn := <-got:
		return conn, failed
	case <-leader.over:
		return nil, errNoLeader
	}
}

// Dial connects with the leader for a client of a server of Local, and waits for a leader as connections do. Errors: no leader could be
// reached in time, or ctx has ended.
func (f *Front) Dial(ctx context.Context, c Client) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Wait)
	defer cancel()
	k, err := f.dial(ctx, c)
	if err != nil { // not a link that is nil
		return nil, err
	}
	return k, nil
}

// dial repeats link until ctx ends.
func (f *Front) dial(ctx context.Context, c Client) (*link, error) {
	for {
		f.mu.Lock()
		changed := f.changed
		f.mu.Unlock()
		k, err := f.link(ctx, c)
		if err == nil || !f.pause(ctx, changed) {
			return k, err
		}
	}
}

// Close implements net.Conn.
func (k *link) Close() error {
	k.once.Do(func() {
		k.front.mu.Lock()
		delete(k.front.links, k)
		k.front.mu.Unlock()
	})
	return k.Conn.Close()
}

// pass copies the bytes of a client in both directions until both have ended. A side that ends in one direction only goes on in the other,
// but a client has lastWords after the leader's end. A client that is gone, or reads nothing for stream.SendTimeout, ends it as on the leader.
func (k *link) pass(client net.Conn) {
	end := func() {
		_ = k.Close()
		_ = client.Close()
	}
	watch := stream.WatchPeer(client, func(error) { end() })
	up := make(chan struct{})
	go func() {
		defer close(up)
		if copyTo(direct(k.Conn, &watched{k.Conn, watch}), client) != nil || endOf(k.Conn) != nil {
			end()
		}
	}()
	err := copyTo(direct(client, k.front.patience.Patient(client)), k.Conn)
	var unread *stream.UnreadError
	switch {
	case errors.As(err, &unread): // the leader does not know why the connection ends
		k.front.cfg.Log.Warn().Str("conn", fmt.Sprintf("%s -> %s", client.RemoteAddr(), client.LocalAddr())).Err(err).Msg("a client that this node passes on is disconnected")
	case err == nil && endOf(client) == nil:
		late := time.NewTimer(lastWords)
		select {
		case <-up:
		case <-late.C:
		}
		late.Stop()
	}
	end()
	<-up
}

// endOf ends one direction of a connection.
func endOf(conn net.Conn) error {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// direct returns a writer that writes to a connection what it takes at once, without the timers of a writer that waits for the rest.
func direct(conn net.Conn, waiting io.Writer) io.Writer {
	if now := stream.AtOnce(conn); now != nil {
		return &atOnce{waiting, now}
	}
	return waiting
}

// atOnce is a writer of direct.
type atOnce struct {
	io.Writer
	now func([]byte) int
}

// Write implements io.Writer.
func (a *atOnce) Write(b []byte) (int, error) {
	n := a.now(b)
	if n == len(b) {
		return n, nil
	}
	rest, err := a.Writer.Write(b[n:])
	return n + rest, err
}

// watched looks whether a client is still there while the leader does not read what it has sent.
type watched struct {
	net.Conn
	watch *time.Timer // nil if it cannot look
}

// Write implements io.Writer.
func (w *watched) Write(b []byte) (int, error) {
	if w.watch != nil {
		w.watch.Reset(stream.PeerLook)
		defer w.watch.Stop()
	}
	return w.Conn.Write(b)
}

// buffers are for bytes on their way: connections without any have none.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyTo copies until the end of from.
func copyTo(to io.Writer, from net.Conn) error {
	read := reader(from)
	for {
		b, n, err := read()
		if n > 0 {
			_, failed := to.Write(b[:n])
			err = cmp.Or(failed, err)
		}
		buffers.Put(b)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// plain reads a connection whose descriptor is not accessible.
func plain(from net.Conn) (b *[32 << 10]byte, n int, err error) {
	b = buffers.Get().(*[32 << 10]byte)
	n, err = from.Read(b[:])
	return b, n, err
}

// Take gives the broker of this node a connection that another node passes on, and closes it if there is no listener of its kind.
func (f *Front) Take(conn net.Conn, c Client) {
	f.mu.Lock()
	l := f.broker(c.Kind)
	f.mu.Unlock()
	far := net.Conn(&far{Conn: conn, local: c.Local, remote: c.Remote})
	if tcp, ok := conn.(*net.TCPConn); ok {
		far = &socket.Far{TCPConn: tcp, Local: c.Local, Remote: c.Remote}
	}
	if l == nil || !l.give(far) {
		_ = conn.Close()
	}
}

// Serves reports whether the broker of this node has a listener of a kind.
func (f *Front) Serves(kind string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broker(kind) != nil
}

// broker returns the broker's listener of a kind. The front is locked.
func (f *Front) broker(kind string) (l *Listener) {
	for _, p := range f.ports {
		if p.kind == kind {
			l = cmp.Or(l, p.broker)
		}
	}
	return l
}

// far is a connection other than TCP whose ends are elsewhere.
type far struct {
	net.Conn
	local, remote net.Addr
	closing       sync.Once
}

// LocalAddr implements net.Conn.
func (f *far) LocalAddr() net.Addr { return f.local }

// RemoteAddr implements net.Conn.
func (f *far) RemoteAddr() net.Addr { return f.remote }

// NetConn returns the connection between the nodes.
func (f *far) NetConn() net.Conn { return f.Conn }

// Close implements net.Conn. It does not wait for room for TLS's last alert.
func (f *far) Close() error {
	f.closing.Do(func() { go func() { _ = f.Conn.Close() }() })
	return nil
}
