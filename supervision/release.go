package supervision

import "time"

// When memory is given back.
const (
	worthwhile = 128 << 20   // bytes: what less memory holds is not worth the trouble
	noticeable = 16 << 20    // bytes that it must have grown, or queues given up
	pace       = time.Second // between two releases, at least
	firstPause = 10 * time.Second
	longPause  = 5 * time.Minute
	alarmPause = 30 * time.Second // the longest in an alarm
)

// release decides when the runtime is told to collect garbage and to give free
// memory back. Left alone it keeps what a long backlog took for minutes after
// that has drained, as nothing is allocated that would start a collection, and a
// memory alarm would last as long.
//
// It is due in a memory alarm, and when the collector has been idle for a second:
// if memory has grown since the last time, if queues hold less than then, or
// after a pause, which gets longer each time it did not help.
type release struct {
	last     time.Duration
	pause    time.Duration
	memory   int64 // bytes that were left
	contents int64 // bytes that queues held then

	seen        time.Duration // when the collector was last seen to have worked
	collections uint64
}

// due tells whether memory is to be given back now.
func (g *release) due(r reading, alarm bool, collections uint64, contents int64) bool {
	if collections != g.collections {
		g.collections, g.seen = collections, r.at
	}
	idle := r.at-g.seen >= pace && r.memory >= worthwhile
	if r.at-g.last < pace || !idle && !alarm {
		return false
	}
	pause := g.pause
	if alarm {
		pause = min(pause, alarmPause)
	}
	return r.memory-g.memory > max(noticeable, g.memory/8) ||
		g.contents-contents > max(noticeable, g.contents/16) ||
		r.at-g.last >= pause
}

// done notes what a release has brought.
func (g *release) done(r reading, left int64, collections uint64, contents int64) {
	g.last, g.memory, g.contents = r.at, left, contents
	g.seen, g.collections = r.at, collections
	if r.memory-left > max(noticeable, r.memory/16) {
		g.pause = firstPause
		return
	}
	g.pause = min(max(2*g.pause, firstPause), longPause)
}
