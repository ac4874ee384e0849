package routing

import (
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
)

// Wait is a publish that waits: a search for a route that exceeds a turn, which runs on its own goroutine, or a publish for several
// queues that waits because publishers wait. All input after the publish waits for it, so that order is kept.
type Wait struct {
	*topology.Long                // nil without a search
	Debt           message.Charge // credit charged for the waiting message
}

// Stop ends the search, if there is one, and returns the credit. w may be nil.
func (w *Wait) Stop() {
	if w == nil {
		return
	}
	if w.Long != nil {
		w.Long.Stop()
	}
	w.Debt.Release()
}

// MustAsk reports whether publishes for several queues need permission: publishers wait, or many are in transit. c is nil if they
// never do.
func MustAsk(c *budget.Copies, gate *message.Gate) bool {
	return c != nil && (c.Held() || !gate.CopiesOpen())
}

// MayCopy takes permission for that many copies, if it is needed; false: not now.
func MayCopy(c *budget.Copies, gate *message.Gate, copies int) bool {
	return !MustAsk(c, gate) || gate.CopiesOpen() && c.Ask(copies)
}
