package forms

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/admin/config"
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

// sample holds the values of an object at a time.
type sample struct {
	at     time.Time
	values []float64
	rates  []Rate
}

// Rates keeps the last sample of each requested object, and earlier ones of objects whose samples are requested.
type Rates struct {
	// Samples defines how long these are kept; set before the first use.
	Samples config.Samples

	mu        sync.Mutex
	seen      map[string]*sample
	swept     time.Time
	forgot    time.Time // when series were last checked
	series    map[string]*series
	kept      atomic.Int32 // how many series there are
	refreshed map[string]refreshed
	timer     *time.Timer // nil unless something is refreshed
	closed    bool
}

// Of returns the rates of change of the values of an object; 0 for the first sample of the object, or if the number of
// values has changed.
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
		// One digit after the point, as in RabbitMQ.
		changes[i].Rate = math.Round((v-s.values[i])/passed.Seconds()*10) / 10
	}
	*s = sample{now, values, changes}
	return changes
}

// Counters is Of for values that only grow; if one falls, the object was created again.
func (r *Rates) Counters(object string, values ...float64) []Rate {
	f := r.Of(object, values...)
	if slices.ContainsFunc(f, func(x Rate) bool { return x.Rate < 0 }) {
		return make([]Rate, len(f))
	}
	return f
}

// Forget drops the samples of all objects.
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
