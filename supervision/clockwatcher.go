package supervision

import (
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// clockWatcher checks the machine's clocks in its own goroutine (ADR 19).
type clockWatcher struct {
	node *Node
	stop chan struct{} // nil if not watching
	gone chan struct{}
	late bool // timers were late at the last check
}

// watch begins to check c.
func (w *clockWatcher) watch(c *clock.Clock) {
	w.stop, w.gone = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(w.gone)
		defer c.EndLooks()
		ticks := time.NewTicker(clock.LookEvery)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				w.look(c)
			case <-w.stop:
				return
			}
		}
	}()
}

// end stops the watch and waits for its goroutine.
func (w *clockWatcher) end() {
	if w.stop != nil {
		close(w.stop)
		<-w.gone
	}
}

func (w *clockWatcher) look(c *clock.Clock) {
	slept, set := c.Look()
	if set != 0 {
		w.node.cfg.Log.Warn().Int64("by_ms", set.Milliseconds()).Int64("skew_ms", c.Skew()).
			Msg("the machine's clock was set; deadlines of messages in memory are not moved")
	}
	if slept != 0 {
		w.node.cfg.Log.Info().Int64("slept_ms", slept.Milliseconds()).Msg("the machine has slept; deadlines that passed meanwhile take effect now")
	}
	if slept != 0 || w.late { // a second time for queues that were not yet in their directory
		w.node.sendToQueues(&mail.ClockJumped{})
	}
	if slept != 0 || set != 0 {
		w.node.schedules.Look()
	}
	w.late = slept != 0
}
