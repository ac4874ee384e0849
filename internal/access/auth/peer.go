package auth

import (
	"crypto/tls"
	"crypto/x509"
	"net"
)

// Peer is a client that logs in.
type Peer struct {
	// Addr is the client's address. An address of another network than TCP is on this machine.
	Addr net.Addr
	// HTTP: the login comes with a request to the HTTP API.
	HTTP bool
	// AMQP10: it speaks AMQP 1.0, whose clients may omit a name.
	AMQP10 bool
	// TLS: the connection is encrypted.
	TLS bool
	// Certificate is the client's, verified; nil without one.
	Certificate *x509.Certificate
	// Elsewhere: the client is not on this machine, although its address may be: a proxy or a shovel connects for it.
	Elsewhere bool
	// Gone ends the wait of a login when the client has gone; nil if that is not known.
	Gone <-chan struct{}

	version, suite uint16 // of TLS
}

// Foreign is a connection of a client that may not be on this machine, although its address is.
type Foreign interface {
	// Elsewhere reports whether it is not.
	Elsewhere() bool
}

// PeerOf returns the other end of a connection. A TLS connection must have completed its handshake.
func PeerOf(conn net.Conn) Peer {
	p := Peer{Addr: conn.RemoteAddr()}
	if f, ok := conn.(Foreign); ok {
		p.Elsewhere = f.Elsewhere()
	}
	secured, ok := conn.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return p
	}
	state := secured.ConnectionState()
	p.TLS, p.version, p.suite = true, state.Version, state.CipherSuite
	if chains := state.VerifiedChains; len(chains) > 0 {
		p.Certificate = chains[0][0]
	}
	return p
}

// local reports whether the peer is on this machine.
func (p Peer) local() bool {
	tcp, ok := p.Addr.(*net.TCPAddr)
	return !p.Elsewhere && (!ok || tcp.IP.IsLoopback())
}
