//go:build !unix

package stream

import "candlemark/internal/transport/outbox"

// Direct returns nil: only the writer writes.
func (w *Writer) Direct() outbox.TryWrite { return nil }
