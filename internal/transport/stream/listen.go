package stream

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// keepalive detects silent clients whose host is gone, even without heartbeats: after 30 s of silence, and then 6
// unanswered probes, one every 10 s. Heartbeats detect them sooner.
var keepalive = net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{
	Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 6,
}}

// Listen opens a listener for clients at an address, host:port.
func Listen(address string) (net.Listener, error) {
	return keepalive.Listen(context.Background(), "tcp", address)
}

// Adopt returns the listener of a file, which was one of Listen in the program that this process had before. It closes the file. Errors: it is none.
func Adopt(f *os.File) (net.Listener, error) {
	l, err := net.FileListener(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	tcp, is := l.(*net.TCPListener)
	if !is {
		return nil, errors.Join(errors.ErrUnsupported, l.Close())
	}
	return adopted{tcp}, nil
}

// adopted is a listener whose connections have no keepalive of their own.
type adopted struct{ *net.TCPListener }

// Accept implements net.Listener.
func (a adopted) Accept() (net.Conn, error) {
	c, err := a.AcceptTCP()
	if err != nil {
		return nil, err
	}
	_ = c.SetKeepAliveConfig(keepalive.KeepAliveConfig) // it fails when the client has gone already
	return c, nil
}
