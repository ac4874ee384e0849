package load

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/wire"
)

// Run has the things that all producers and consumers of a run share.
type Run struct {
	// ID is in all bodies: messages that another run has left in a queue are recognized.
	ID   uint32
	Wire wire.Config
	// AMQP10 has producers and consumers speak AMQP 1.0.
	AMQP10 bool
	// Stop ends the publishing.
	Stop atomic.Bool
	// Sent and Got count messages.
	Sent, Got atomic.Int64
	// Latency is the time from the moment when a message should be sent until it arrives, Lag until it is sent, Confirm
	// until the broker confirms it; FromWrite is the time from sending to arrival. FromWrite and Lag are recorded only if
	// messages are sent at a rate.
	Latency, FromWrite, Lag, Confirm *stats.Recorder
}

// NewRun has recorded nothing yet.
func NewRun(id uint32, cfg wire.Config) *Run {
	return &Run{
		ID: id, Wire: cfg,
		Latency: stats.NewRecorder(), FromWrite: stats.NewRecorder(), Lag: stats.NewRecorder(), Confirm: stats.NewRecorder(),
	}
}

// Recorders are all, by their names.
func (r *Run) Recorders() map[string]*stats.Recorder {
	return map[string]*stats.Recorder{"latency": r.Latency, "latency_from_write": r.FromWrite, "send_lag": r.Lag, "confirm": r.Confirm}
}

// begin waits for a part of the time that a producer has between two messages, another part for each, and returns when the first is
// due: many producers with the same rate do not all send at the same moment.
func (r *Run) begin(rate Plan, id uint32, pace pacer) (start int64) {
	_, part := math.Modf(float64(id) * (math.Phi - 1)) // as far as possible from the parts of all lower ids
	start = wire.Now() + int64(rate.When(part))
	for !r.Stop.Load() {
		left := time.Duration(start - wire.Now())
		if left <= 0 {
			break
		}
		pace.sleep(min(left, 50*time.Millisecond))
	}
	return start
}

// Group runs functions at the same time and collects their errors. The zero value is empty.
type Group struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// Go runs f.
func (g *Group) Go(f func() error) {
	g.wg.Go(func() {
		if err := f(); err != nil {
			g.mu.Lock()
			g.errs = append(g.errs, err)
			g.mu.Unlock()
		}
	})
}

// Wait waits for all and returns their errors.
func (g *Group) Wait() error {
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(g.errs...)
}

// Done is closed when all have ended.
func (g *Group) Done() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		g.wg.Wait()
		close(done)
	}()
	return done
}
