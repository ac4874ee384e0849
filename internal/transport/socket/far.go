package socket

import "net"

// Far is a TCP connection with another node, which passes on the bytes of a client (CLU-20). Its addresses are the client's and the one
// that the client has called.
type Far struct {
	*net.TCPConn
	Local, Remote net.Addr
}

// LocalAddr implements net.Conn.
func (f *Far) LocalAddr() net.Addr { return f.Local }

// RemoteAddr implements net.Conn.
func (f *Far) RemoteAddr() net.Addr { return f.Remote }
