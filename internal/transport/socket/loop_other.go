//go:build !linux

package socket

import "net"

// Loops does nothing on this system.
type Loops struct{}

// NewLoops returns Loops that do nothing.
func NewLoops(func(post func())) *Loops { return &Loops{} }

// Take returns conn itself.
func (l *Loops) Take(conn net.Conn) net.Conn { return conn }

// Close does nothing.
func (l *Loops) Close() {}
