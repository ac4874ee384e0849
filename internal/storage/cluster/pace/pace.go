package pace

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	slot  = 5 * time.Second
	slots = 6
	// fewest is the number of writes below which a mean says nothing.
	fewest = 20
	// Much slower is a mean that is this many times as long, and longer by this much, for so long.
	times  = 5
	longer = 30 * time.Millisecond
	// Lasting is how long a leader must be slow without a break until another node should lead.
	Lasting = 30 * time.Second
	// Reign is how long a leader leads at least, so that the office does not go around if leading itself makes a disk slow.
	Reign = 10 * time.Minute
)

// Meter has the durations of the writes of the last half minute. The zero value has none.
type Meter struct {
	mu    sync.Mutex
	began time.Time // of the present slot
	sums  [slots]time.Duration
	count [slots]int
}

// Sample is the mean duration of some writes.
type Sample struct {
	Mean   time.Duration
	Writes int
}

// Add counts a write that ended now.
func (m *Meter) Add(now time.Time, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	m.sums[0] += took
	m.count[0]++
}

// turn begins slots until the present one. The meter is locked.
func (m *Meter) turn(now time.Time) {
	if now.Sub(m.began) >= slots*slot {
		m.began, m.sums, m.count = now, [slots]time.Duration{}, [slots]int{}
	}
	for ; now.Sub(m.began) >= slot; m.began = m.began.Add(slot) {
		copy(m.sums[1:], m.sums[:])
		copy(m.count[1:], m.count[:])
		m.sums[0], m.count[0] = 0, 0
	}
}

// Sample returns the mean of the last half minute.
func (m *Meter) Sample(now time.Time) (s Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	for i := range slots {
		s.Mean += m.sums[i]
		s.Writes += m.count[i]
	}
	if s.Writes > 0 {
		s.Mean /= time.Duration(s.Writes)
	}
	return s
}

// Judge remembers since when a leader is slow.
type Judge struct{ since time.Time }

// Look compares a leader, which leads since led, with the other voters that answer. It returns why another node should lead, "" to go on. others may change their order.
func (j *Judge) Look(now, led time.Time, own Sample, others []Sample, voters int) string {
	others = slices.DeleteFunc(others, func(s Sample) bool { return s.Writes < fewest })
	slices.SortFunc(others, func(a, b Sample) int { return int(a.Mean - b.Mean) })
	majority := voters/2 + 1
	if own.Writes < fewest || len(others) < majority { // fewer are no majority without this disk
		j.since = time.Time{}
		return ""
	}
	rest := others[majority-1].Mean
	if own.Mean < times*rest || own.Mean-rest < longer {
		j.since = time.Time{}
		return ""
	}
	if j.since.IsZero() {
		j.since = now
	}
	if now.Sub(j.since) < Lasting || now.Sub(led) < Reign {
		return ""
	}
	return fmt.Sprintf("its disk takes %v for a write, a majority of the others at most %v", own.Mean.Round(time.Millisecond), rest.Round(time.Millisecond/10))
}

// Office is the time of a node as the leader. The zero value is a node that does not lead.
type Office struct {
	mu    sync.Mutex
	judge Judge
	led   time.Time // since when; zero if it does not lead
	why   string    // another node is asked to lead
}

// Look is Judge.Look for a node that leads. After a reason it returns "" until Answered or Ended is called.
func (o *Office) Look(now time.Time, own Sample, others []Sample, voters int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.led.IsZero() {
		o.led = now
	}
	if o.why != "" {
		return ""
	}
	o.why = o.judge.Look(now, o.led, own, others, voters)
	return o.why
}

// Answered notes that the question whether another node leads has its answer.
func (o *Office) Answered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.judge, o.why = Judge{}, ""
}

// Ended notes that the node does not lead.
func (o *Office) Ended() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.judge, o.led, o.why = Judge{}, time.Time{}, ""
}

// Why returns why another node is asked to lead; "" if none is.
func (o *Office) Why() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.why
}
