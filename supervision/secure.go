package supervision

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync"
	"time"
)

// Secure returns a listener for Serve whose connections use TLS.
func (n *Node) Secure(l net.Listener, config *tls.Config) net.Listener {
	return &secureListener{l, config, n}
}

// secureListener accepts connections whose TLS handshake runs at the first read, in the goroutine of their reader, so
// that a slow client delays no other.
type secureListener struct {
	net.Listener
	config *tls.Config
	node   *Node
}

// Accept implements net.Listener.
func (l *secureListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &secureConn{Conn: tls.Server(l.node.patience.Patient(conn), l.config)}, nil
}

// expires returns the earliest expiry in the certificate chain served now; config may be nil.
func expires(config *tls.Config) (first time.Time) {
	if config == nil {
		return first
	}
	if config.GetConfigForClient != nil {
		if now, err := config.GetConfigForClient(nil); err == nil && now != nil {
			config = now
		}
	}
	for _, chain := range config.Certificates {
		for _, raw := range chain.Certificate {
			if c, err := x509.ParseCertificate(raw); err == nil && (first.IsZero() || c.NotAfter.Before(first)) {
				first = c.NotAfter
			}
		}
	}
	return first
}

// secureConn is a TLS connection that actors may close: Close does not block until the socket has room for TLS's last
// alert.
type secureConn struct {
	*tls.Conn
	closing sync.Once
}

// Close implements net.Conn. The connection ends within 5 s, crypto/tls's limit for the last alert, or at once if a
// write is stuck.
func (c *secureConn) Close() error {
	c.closing.Do(func() { go func() { _ = c.Conn.Close() }() })
	return nil
}
