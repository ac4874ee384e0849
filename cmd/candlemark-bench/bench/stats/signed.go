package stats

import (
	"sync"
	"time"
)

// lateBy are the limits beyond which Signed counts.
var lateBy = [...]time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second}

// Signed is a histogram of lateness, in which a negative value is early. It is safe for concurrent use.
type Signed struct {
	mu      sync.Mutex
	neg     *Histogram
	pos     *Histogram
	earlyMs int64
	over    [len(lateBy)]int64
}

// NewSigned is empty.
func NewSigned() *Signed { return &Signed{neg: NewHistogram(), pos: NewHistogram()} }

// Record counts values in nanoseconds.
func (s *Signed) Record(ns ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range ns {
		if v < 0 {
			s.neg.Record(-v, 1)
			if v < -int64(time.Millisecond) {
				s.earlyMs++
			}
			continue
		}
		s.pos.Record(v, 1)
		for i, limit := range lateBy {
			if v > int64(limit) {
				s.over[i]++
			}
		}
	}
}

// Early returns how many values are negative.
func (s *Signed) Early() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.neg.Count()
}

// Quantile returns the value in nanoseconds that a share q of all is not above; 0 if there are none.
func (s *Signed) Quantile(q float64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quantile(q)
}

func (s *Signed) quantile(q float64) int64 {
	before, after := s.neg.Count(), s.pos.Count()
	n := before + after
	if n == 0 {
		return 0
	}
	rank := min(max(int64(q*float64(n)+0.5), 1), n)
	if rank <= before { // the smallest of all has the largest absolute value of the negative ones
		return -s.neg.Quantile(float64(before-rank+1) / float64(before))
	}
	return s.pos.Quantile(float64(rank-before) / float64(after))
}

// Lateness sums up a Signed.
type Lateness struct {
	Summary
	Early          int64 `json:"early"`
	EarlyOver1ms   int64 `json:"early_over_1ms"`
	LateOver10ms   int64 `json:"late_over_10ms"`
	LateOver100ms  int64 `json:"late_over_100ms"`
	LateOver1000ms int64 `json:"late_over_1000ms"`
}

// Lateness sums up.
func (s *Signed) Lateness() Lateness {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.neg.Count() + s.pos.Count()
	if n == 0 {
		return Lateness{}
	}
	ms := func(q float64) float64 { return Millis(s.quantile(q)) }
	mean := Round((s.pos.sum-s.neg.sum)/float64(n)/1e6, 4)
	return Lateness{
		Summary{n, ms(0), mean, ms(.5), ms(.9), ms(.99), ms(.999), ms(1)},
		s.neg.Count(), s.earlyMs, s.over[0], s.over[1], s.over[2],
	}
}
