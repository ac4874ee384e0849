package forms

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/config"
)

// Rates are computed on request, between two samples at least sampleEvery apart. Nothing is measured without
// requests.
const (
	sampleEvery = 5 * time.Second
	forgetAfter = 10 * time.Minute
)

// Rate is the form of a change per second, with samples if they were asked for.
type Rate struct {
	Rate float64 `json:"rate"`
	*Range
}

// sample holds what was seen of an object.
type sample struct {
	at     time.Time
	values []float64
	rates  []Rate
}

// Rates keeps the last sample of each requested object, and earlier ones of objects whose samples are requested.
type Rates struct {
	// Samples say how long those are kept; set before the first look.
	Samples config.Samples

	mu        sync.Mutex
	seen      map[string]*sample
	swept     time.Time
	forgot    time.Time // when series were looked through
	series    map[string]*series
	kept      atomic.Int32 // how many series there are
	refreshed map[string]refreshed
	timer     *time.Timer // nil unless something is refreshed
	closed    bool
}

// Of returns how fast the values of an object change. The first look at it, or at one that began anew, finds no change.
func (r *Rates) Of(object string, values ...float64) []Rate {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	s := r.seen[object]
	if s == nil || len(s.values) != len(values) {
		s = &sample{at: now, values: values, rates: make([]Rate, len(values))}
		if r.seen == nil {
			r.seen = map[string]*sample{}
		}
		r.seen[object] = s
		return s.rates
	}
	passed := now.Sub(s.at)
	if passed < sampleEvery {
		return s.rates
	}
	changes := make([]Rate, len(values))
	for i, v := range values {
		// One place behind the point, as RabbitMQ shows it.
		changes[i].Rate = math.Round((v-s.values[i])/passed.Seconds()*10) / 10
	}
	*s = sample{now, values, changes}
	return changes
}

// Counters is Of for values that only grow, unless the object begins anew.
func (r *Rates) Counters(object string, values ...float64) []Rate {
	f := r.Of(object, values...)
	if slices.ContainsFunc(f, func(x Rate) bool { return x.Rate < 0 }) {
		return make([]Rate, len(f))
	}
	return f
}

// Forget has all objects be looked at for the first time again.
func (r *Rates) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen, r.series = nil, nil
	r.kept.Store(0)
}

// sweep removes objects without recent requests. mu is held.
func (r *Rates) sweep(now time.Time) {
	if now.Sub(r.swept) < forgetAfter {
		return
	}
	r.swept = now
	r.forget(now)
	for object, s := range r.seen {
		if now.Sub(s.at) >= forgetAfter {
			delete(r.seen, object)
		}
	}
}
