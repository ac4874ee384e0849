package topology

import (
	"fmt"
	"math"
	"runtime"

	"candlemark/protocol"
)

// The bounds of the cost of one route, in steps of some 20 to 100 ns: a node of a topic exchange followed along one
// word, a header that a combination requires looked up, a key looked up at one exchange, a destination found, 8 bytes
// that an action has to copy. Comparisons are the steps for finding out which bindings match.
const (
	// TurnSteps is the limit of Router.Route, so that no bindings and keys make an actor's turn long.
	TurnSteps = 20_000
	// MaxSteps is the limit of the comparisons of a Long route. Longer ones are refused. Only bindings that an earlier
	// version has accepted are so expensive: maxWords, maxKeySteps and chainSteps are lower (DEC-19). Destinations have
	// no limit; each is found once, so that there are not more than bindings.
	MaxSteps = 4_000_000
	// sliceSteps is the number of steps after which a Long route yields the processor.
	sliceSteps = 2_000
	// chainSteps is the limit of comparisons for all exchanges reached by bindings, together (DEC-19).
	chainSteps = 500_000
	// maxKeySteps is the limit of comparisons of a key with the bindings of one exchange, as a key has at most keyWords
	// words. It takes 13 words to reach it.
	maxKeySteps = 100_000
	keyWords    = 256
	// maxWords is the limit of words of all keys of one message, if there are several, at a topic exchange (DEC-19).
	maxWords = 400
)

// work counts the steps of one route.
type work struct {
	steps, limit int
	free         int // those of steps that do not count towards MaxSteps
	over         bool
	// pause, unless nil, is called whenever the limit is reached. If it returns true, there is another slice, up to
	// MaxSteps; false gives up.
	pause func() bool

	share int  // the comparisons that the current exchange has left
	cut   bool // whether it had too few
}

// begin resets the count and limit for a new route.
func (w *work) begin() {
	w.steps, w.free, w.limit, w.over = 0, 0, TurnSteps, false
	w.share, w.cut = math.MaxInt, false
	if w.pause != nil {
		w.limit = sliceSteps
	}
}

// spend counts n steps before they are done; false: skip them; the limit is exceeded.
func (w *work) spend(n int) bool {
	w.steps += n
	return w.steps <= w.limit || w.more()
}

// found is spend for destinations and for copies by actions, whose number is bounded otherwise.
func (w *work) found(n int) bool {
	w.free += n
	return w.spend(n)
}

// compare spends n steps for finding out which bindings match; false: skip them, the current exchange or the route has
// none left.
func (w *work) compare(n int) bool {
	if n > w.share {
		w.share, w.cut = 0, true
		return false
	}
	w.share -= n
	return w.spend(n)
}

func (w *work) more() bool {
	if !w.over && w.pause != nil && w.steps-w.free <= MaxSteps && w.pause() {
		w.limit = min(w.steps+sliceSteps, MaxSteps+w.free)
		return true
	}
	w.over = true
	return false
}

// Over reports whether the last route was given up because it exceeded the limit of steps: its result must not be used.
// See VHost.Long.
func (r *Router) Over() bool { return r.over }

// Steps returns the cost of the last route.
func (r *Router) Steps() int { return r.steps }

// Long is a route that takes more than TurnSteps. It is computed outside the actors, one at a time in a virtual host,
// and yields the processor to other goroutines, so that it delays only its publisher.
type Long struct {
	router  Router
	vhost   *VHost
	to      *Exchange
	keys    [][]byte
	headers func() protocol.Table
	gone    chan struct{}
}

// LongRoute is the result of a Long: what Router.Route, Histories, Caps and Refusal return. With Err, a 406 beyond MaxSteps, there is none.
type LongRoute struct {
	Queues    []*Queue
	Histories []*Queue
	Caps      []int64
	Refusal   error
	Err       error
}

// Long returns a Long for the route of Router.RouteAll. Keys, headers and properties (see Router.Properties) are used
// until Find has returned.
func (v *VHost) Long(x *Exchange, keys [][]byte, headers func() protocol.Table, properties func() (protocol.Properties, []byte, int)) *Long {
	return &Long{router: Router{Properties: properties}, vhost: v, to: x, keys: keys, headers: headers, gone: make(chan struct{})}
}

// Find waits its turn and computes the route; it blocks and needs its own goroutine. ok is false if Stop was called. A
// panic becomes Err.
func (l *Long) Find() (found LongRoute, ok bool) {
	defer func() {
		if reason := recover(); reason != nil {
			found, ok = LongRoute{Err: fmt.Errorf("routing panicked: %v", reason)}, true
		}
	}()
	select {
	case l.vhost.lane <- struct{}{}:
		defer func() { <-l.vhost.lane }()
	case <-l.gone:
		return LongRoute{}, false
	}
	r := &l.router
	r.pause = l.pause
	queues := r.RouteAll(l.vhost.Directory(), l.to, l.keys, l.headers)
	found = LongRoute{Queues: queues, Histories: r.Histories(), Caps: r.Caps(), Refusal: r.Refusal()}
	if r.over {
		found = LongRoute{Err: protocol.ChannelErrorf(protocol.PreconditionFailed,
			"routing a message from exchange '%s' takes more than %d steps, because of bindings of an earlier version", l.to.Name, MaxSteps)}
	}
	return found, l.pause()
}

// pause lets other goroutines run; false if the route is no longer wanted.
func (l *Long) pause() bool {
	runtime.Gosched()
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

// Stop cancels the computation. It is called at most once.
func (l *Long) Stop() { close(l.gone) }
