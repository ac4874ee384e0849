package forms

import (
	"context"
	"time"
)

// refreshed is an object that is sampled between requests, so that its samples have no gaps.
type refreshed struct {
	asked time.Time
	again func(ctx context.Context, l *Look) error
}

// Refresh samples an object every 5 s by calling again, which queries the broker and passes the figures to l. It ends
// when again fails, or after a time without requests as long as the period of the samples.
func (l *Look) Refresh(object string, again func(ctx context.Context, l *Look) error) {
	if !l.wants() {
		return
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.refreshed[object]; l.closed || !known && len(l.refreshed) >= maxRefreshed || len(l.spansOf(object)) == 0 {
		return
	}
	if l.refreshed == nil {
		l.refreshed = map[string]refreshed{}
	}
	l.refreshed[object] = refreshed{now, again}
	if l.timer == nil {
		l.timer = time.AfterFunc(sampleEvery, l.refresh)
	}
}

// refresh samples all refreshed objects, one after the other, and starts the timer for the next time.
func (r *Rates) refresh() {
	now := time.Now()
	r.mu.Lock()
	due := map[string]refreshed{}
	for object, o := range r.refreshed {
		if spans := r.spansOf(object); now.Sub(o.asked) > spans[len(spans)-1].Length {
			delete(r.refreshed, object)
			continue
		}
		due[object] = o
	}
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), maxRefreshTime)
	defer cancel()
	for object, o := range due {
		if o.again(ctx, &Look{Rates: r}) != nil {
			r.mu.Lock()
			delete(r.refreshed, object) // the object or the broker is gone
			r.mu.Unlock()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	if len(r.refreshed) > 0 && !r.closed {
		r.timer = time.AfterFunc(sampleEvery, r.refresh)
	}
}

// Close ends all sampling between requests.
func (r *Rates) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
}
