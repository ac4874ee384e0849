package socket_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"candlemark/internal/transport/socket"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns a connection taken by the loops, and its peer.
func pair(t *testing.T, l *socket.Loops) (*socket.Conn, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	peer, err := net.Dial("tcp", listener.Addr().String())
	must(t, err)
	conn, err := listener.Accept()
	must(t, err)
	c, ok := l.Take(conn).(*socket.Conn)
	if !ok {
		t.Fatal("it was not taken")
	}
	t.Cleanup(func() { _, _ = peer.Close(), c.Close() })
	return c, peer.(*net.TCPConn)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newLoops(t *testing.T, carry func(post func())) *socket.Loops {
	l := socket.NewLoops(carry)
	t.Cleanup(l.Close)
	return l
}

func plainly(post func()) { post() }

// echo writes back all input until an error or the byte stop.
type echo struct {
	conn *socket.Conn
	stop byte // byte after which it pauses; 0 for never
	got  []byte
	over chan error
}

func (e *echo) Fill() int {
	b := make([]byte, 16) // may be shorter than the available input
	n, err := e.conn.TryRead(b)
	e.got = b[:n]
	if err != nil && !errors.Is(err, socket.ErrNotNow) {
		e.conn.Pause()
		e.over <- err
	}
	return n
}

func (e *echo) Handle() {
	if n := e.conn.TryWrite(e.got); n != len(e.got) {
		panic("the peer does not read")
	}
	if e.stop != 0 && bytes.IndexByte(e.got, e.stop) >= 0 {
		e.conn.Pause()
		e.over <- nil
	}
}

func listen(t *testing.T, c *socket.Conn, stop byte) *echo {
	e := &echo{conn: c, stop: stop, over: make(chan error, 1)}
	must(t, c.Listen(e))
	return e
}

func expect(t *testing.T, r io.Reader, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(r, b); err != nil || string(b) != want {
		t.Fatalf("%q, %v; want %q", b, err, want)
	}
}

// TestListenAndPause lets the loop and a goroutine read in turns; nothing is lost or reordered.
func TestListenAndPause(t *testing.T) {
	c, peer := pair(t, newLoops(t, plainly))
	for range 100 {
		e := listen(t, c, '.')
		text := "some words that need more than one read of sixteen bytes"
		_, err := peer.Write([]byte(text))
		must(t, err)
		expect(t, peer, text)
		_, err = peer.Write([]byte("."))
		must(t, err)
		expect(t, peer, ".")
		must(t, <-e.over)
		_, err = peer.Write([]byte("and this is for the goroutine"))
		must(t, err)
		expect(t, c, "and this is for the goroutine")
	}
}

// TestEnds: each end of a connection is reported to its listener once, and the descriptor is closed.
func TestEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(c *socket.Conn, peer *net.TCPConn)
		want error
	}{
		"peer":                {func(_ *socket.Conn, p *net.TCPConn) { _ = p.Close() }, io.EOF},
		"peer, half":          {func(_ *socket.Conn, p *net.TCPConn) { _ = p.CloseWrite() }, io.EOF},
		"peer, behind bytes":  {func(_ *socket.Conn, p *net.TCPConn) { _, _ = p.Write([]byte("last")); _ = p.CloseWrite() }, io.EOF},
		"peer, reset":         {func(_ *socket.Conn, p *net.TCPConn) { _ = p.SetLinger(0); _ = p.Close() }, syscall.ECONNRESET},
		"ours":                {func(c *socket.Conn, _ *net.TCPConn) { _ = c.Close() }, net.ErrClosed},
		"ours, behind theirs": {func(c *socket.Conn, p *net.TCPConn) { _ = p.CloseWrite(); _ = c.Close() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, peer := pair(t, newLoops(t, plainly))
			e := listen(t, c, 0)
			_, err := peer.Write([]byte("hello"))
			must(t, err)
			expect(t, peer, "hello")
			test.end(c, peer)
			if err := <-e.over; test.want != nil && !errors.Is(err, test.want) || err == nil {
				t.Errorf("%v, want %v", err, test.want)
			}
			_ = c.Close()
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
			if err := c.Listen(e); !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
			raw, _ := c.SyscallConn()
			if err := raw.Control(func(uintptr) {}); !errors.Is(err, net.ErrClosed) {
				t.Error("the descriptor is still there:", err)
			}
		})
	}
}

// TestWaits: Read and Write wait for the peer, for a deadline set before or during the call, and for Close.
func TestWaits(t *testing.T) {
	c, peer := pair(t, newLoops(t, plainly))
	much := bytes.Repeat([]byte("0123456789abcdef"), 1<<19)
	done := make(chan error)
	go func() {
		_, err := c.Write(much)
		done <- err
	}()
	got := make([]byte, len(much))
	_, err := io.ReadFull(peer, got)
	must(t, err)
	must(t, <-done)
	if !bytes.Equal(got, much) {
		t.Error("it was not what was written")
	}

	must(t, c.SetDeadline(time.Now().Add(-time.Second))) // a deadline in the past fails even calls that would not block
	if _, err := peer.Write([]byte("there is something")); err != nil {
		t.Error(err)
	}
	if _, err := c.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	if _, err := c.Write(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	must(t, c.SetDeadline(time.Time{}))
	expect(t, c, "there is something")
	var timeout net.Error
	go func() {
		_, err := c.Read(got)
		done <- err
	}()
	must(t, c.SetDeadline(time.Now()))
	if err := <-done; !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
	must(t, c.SetDeadline(time.Time{}))
	go func() {
		_, err := c.Read(got)
		done <- err
	}()
	go func() {
		for {
			if _, err := c.Write(much); err != nil {
				done <- err
				return
			}
		}
	}()
	must(t, c.Close())
	for range 2 {
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
}

// TestManyTogether opens, uses and closes connections from many goroutines, so that descriptors are reused while events
// of earlier connections are pending. Each client gets back its own bytes.
func TestManyTogether(t *testing.T) {
	l := newLoops(t, plainly)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var serving, clients sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c := l.Take(conn).(*socket.Conn)
			e := &echo{conn: c, over: make(chan error, 1)}
			if err := c.Listen(e); err != nil {
				t.Error(err)
			}
			serving.Go(func() { <-e.over; _ = c.Close() })
		}
	})
	for who := range 8 {
		clients.Go(func() {
			for i := range 200 {
				conn, err := net.Dial("tcp", listener.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				text := bytes.Repeat([]byte{byte(who), byte(i)}, 40)
				got := make([]byte, len(text))
				_, err = conn.Write(text)
				if _, failed := io.ReadFull(conn, got); err != nil || failed != nil || !bytes.Equal(got, text) {
					t.Errorf("%v %v %v", err, failed, got)
				}
				_ = conn.Close()
			}
		})
	}
	clients.Wait()
	must(t, listener.Close())
	serving.Wait()
}

// TestRounds: input is handled in carry, unless there is so much of it that more may be available.
func TestRounds(t *testing.T) {
	carried := make(chan bool, 10)
	l := newLoops(t, func(post func()) { carried <- true; post() })
	c, peer := pair(t, l)
	r := &reads{conn: c, may: make(chan bool), handled: make(chan int, 10)}
	must(t, c.Listen(r))
	for bytes, carries := range map[int]int{8: 1, 8 << 10: 0} {
		_, err := peer.Write(make([]byte, bytes))
		must(t, err)
		r.may <- true
		if n := <-r.handled; n != bytes || len(carried) != carries {
			t.Errorf("%d of %d bytes, carried %d times", n, bytes, len(carried))
		}
		for range carries {
			<-carried
		}
	}
	must(t, c.Close())
	r.may <- true
}

// reads reads when it is told to, and reports the number of bytes.
type reads struct {
	conn    *socket.Conn
	may     chan bool
	handled chan int
	n       int
}

func (r *reads) Fill() int {
	<-r.may
	n, err := r.conn.TryRead(make([]byte, 64<<10))
	if err != nil {
		r.conn.Pause()
	}
	r.n = n
	return n
}

func (r *reads) Handle() { r.handled <- r.n }

// TestWriteVector writes many more pieces than one system call accepts.
func TestWriteVector(t *testing.T) {
	c, peer := pair(t, newLoops(t, plainly))
	var v [][]byte
	var want []byte
	for i := range 5000 {
		v = append(v, bytes.Repeat([]byte{byte(i)}, 1+i%2000))
		want = append(want, v[i]...)
	}
	got := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(peer, int64(len(want))))
		got <- b
	}()
	for len(v) > 0 {
		n, err := c.WriteVector(v)
		must(t, err)
		for ; len(v) > 0 && n >= len(v[0]); v = v[1:] {
			n -= len(v[0])
		}
		if len(v) > 0 {
			v[0] = v[0][n:]
		}
	}
	if !bytes.Equal(<-got, want) {
		t.Error("not what was written")
	}
	_ = c.Close()
	if _, err := c.WriteVector([][]byte{want}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v from a closed one", err)
	}
}
