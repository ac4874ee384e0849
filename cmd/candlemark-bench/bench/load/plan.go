package load

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Plan is a value that changes with the time of a run, by steps that repeat from the first after the last. The zero
// value is always 0.
type Plan struct {
	steps []step
	cycle time.Duration // of all steps
	sum   float64       // value times seconds of all steps
}

type step struct {
	value float64
	lasts time.Duration
}

var errPlan = errors.New("a plan is value:seconds,value:seconds, as 100:60,0:10")

// Always returns a value that does not change, or 0 if there is none.
func Always(value float64) Plan {
	if value == 0 {
		return Plan{}
	}
	return Plan{[]step{{value, time.Second}}, time.Second, value}
}

// Parse adds a step "value:seconds", or several with commas between them, to a plan.
func (p Plan) Parse(text string) (Plan, error) {
	p.steps = p.steps[:len(p.steps):len(p.steps)]
	for part := range strings.SplitSeq(text, ",") {
		value, lasts, _ := strings.Cut(part, ":")
		v, err := strconv.ParseFloat(value, 64)
		s, err2 := strconv.ParseFloat(lasts, 64)
		if err != nil || err2 != nil || !(v >= 0 && v <= 1e9) || !(s >= 0.001 && s <= 1e6) {
			return Plan{}, fmt.Errorf("%w, not %q", errPlan, text)
		}
		d := time.Duration(s * float64(time.Second))
		p.steps = append(p.steps, step{v, d})
		p.cycle += d
		p.sum += v * d.Seconds()
	}
	return p, nil
}

// String writes it as Parse reads it.
func (p Plan) String() string {
	parts := make([]string, len(p.steps))
	for i, s := range p.steps {
		parts[i] = fmt.Sprintf("%v:%v", s.value, s.lasts.Seconds())
	}
	return strings.Join(parts, ",")
}

// IsZero reports whether the value is 0 for ever.
func (p Plan) IsZero() bool { return p.sum == 0 }

// At returns the value when so much time has passed.
func (p Plan) At(passed time.Duration) float64 {
	if p.IsZero() {
		return 0
	}
	passed %= p.cycle
	for _, s := range p.steps {
		if passed < s.lasts {
			return s.value
		}
		passed -= s.lasts
	}
	return 0 // not reached: the steps are the cycle
}

// Until returns how many things have come when so much time has passed, with the value as their rate in a second.
func (p Plan) Until(passed time.Duration) float64 {
	if p.IsZero() {
		return 0
	}
	n := float64(passed/p.cycle) * p.sum
	passed %= p.cycle
	for _, s := range p.steps {
		d := min(passed, s.lasts)
		n += s.value * d.Seconds()
		passed -= d
	}
	return n
}

// When returns the time after which n events have come, with the value as their rate per second.
func (p Plan) When(n float64) time.Duration {
	if p.IsZero() {
		return 0
	}
	cycles := math.Floor(n / p.sum)
	passed := time.Duration(cycles) * p.cycle
	n -= cycles * p.sum
	for _, s := range p.steps {
		if come := s.value * s.lasts.Seconds(); come <= n {
			n -= come
			passed += s.lasts
			continue
		}
		return passed + time.Duration(n/s.value*float64(time.Second))
	}
	return passed
}
