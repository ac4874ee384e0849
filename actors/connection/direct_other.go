//go:build !unix

package connection

import "candlemark/internal/outbox"

// direct is nil: every write is the writer's.
func (w *writer) direct() outbox.TryWrite { return nil }
