//go:build !unix

package stream

import "candlemark/internal/outbox"

// Direct is nil: every write is the writer's.
func (w *Writer) Direct() outbox.TryWrite { return nil }
