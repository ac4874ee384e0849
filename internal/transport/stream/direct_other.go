//go:build !unix

package stream

import (
	"net"

	"candlemark/internal/transport/outbox"
)

// Direct returns nil: only the writer writes.
func (w *Writer) Direct() outbox.TryWrite { return nil }

// AtOnce returns nil: all writes may wait.
func AtOnce(net.Conn) func(b []byte) int { return nil }
