package resources

import "time"

// Parameters for returning memory to the system.
const (
	worthwhile = 128 << 20   // bytes: less memory is not worth a release
	noticeable = 16 << 20    // bytes that memory must have grown, or queues released
	pace       = time.Second // minimum time between two releases, and the first pause
	longPause  = 5 * time.Minute
	alarmPause = 30 * time.Second // the longest pause during an alarm
	settling   = 3 * time.Second  // until collected memory is returned to the system
)

// release decides when the runtime collects garbage and returns free memory. By itself the runtime keeps the memory of
// a drained backlog for minutes, as nothing is allocated that would start a collection, and a memory alarm would last
// as long.
//
// A release is due in a memory alarm, and when the collector has been idle for a second: if memory has grown since the
// last release, if queues hold less than then, or after a pause, which doubles each time a release did not help.
// Contents that queues have released may stay in memory for a moment, in mail or in records on their way to the
// journal, so the pauses start again from the first then, as they do after a release that helped.
//
// Without an alarm memory is returned in the background, because doing so at once stops everything: the result is
// measured when that is done.
type release struct {
	last   time.Duration
	pause  time.Duration
	memory int64 // bytes in use after the last release
	held   int64 // bytes that queues held then, including entries

	seen        time.Duration // when the collector was last seen working
	collections uint64

	began *begun // a collection whose memory is being returned, nil for none
}

// begun is the state before a collection.
type begun struct {
	reading
	held int64
}

// due reports whether memory should be returned now.
func (g *release) due(r reading, alarm bool, collections uint64, held int64) bool {
	if collections != g.collections {
		g.collections, g.seen = collections, r.at
	}
	idle := g.began == nil && r.at-g.seen >= pace && r.memory >= worthwhile
	if r.at-g.last < pace || !idle && !alarm {
		return false
	}
	pause := g.pause
	if alarm {
		pause = min(pause, alarmPause)
	}
	return r.memory-g.memory > max(noticeable, g.memory/8) ||
		g.shrank(held) ||
		r.at-g.last >= pause
}

// give returns memory to the system, at once in an alarm, and returns the amount in use now.
func (g *release) give(m Meter, r reading, alarm bool, held int64) (memory int64) {
	if !alarm {
		m.Collect()
		g.began = &begun{r, held}
		return r.memory
	}
	m.Release()
	memory = m.Memory()
	g.done(r, memory, m.Collections(), held)
	return memory
}

// settle records the result of a collection once its memory is returned.
func (g *release) settle(r reading, collections uint64) {
	if b := g.began; b != nil && r.at-b.at >= settling {
		g.done(b.reading, r.memory, collections, b.held)
	}
}

// shrank reports whether queues have released much.
func (g *release) shrank(held int64) bool { return g.held-held > max(noticeable, g.held/16) }

// done records the result of a release.
func (g *release) done(r reading, left int64, collections uint64, held int64) {
	switch {
	case g.shrank(held):
		g.pause = 0
	case r.memory-left > max(noticeable, r.memory/16):
		g.pause = pace
	}
	g.pause = min(max(2*g.pause, pace), longPause)
	g.last, g.memory, g.held = r.at, left, held
	g.seen, g.collections = r.at, collections
	g.began = nil
}
