package resources

import "time"

// When memory is given back.
const (
	worthwhile = 128 << 20   // bytes: what less memory holds is not worth the trouble
	noticeable = 16 << 20    // bytes that it must have grown, or queues given up
	entrySize  = 58          // bytes of a message without its content, about
	pace       = time.Second // between two releases, at least, and the first pause
	longPause  = 5 * time.Minute
	alarmPause = 30 * time.Second // the longest in an alarm
	settling   = 3 * time.Second  // until what was collected has gone back to the system
)

// release decides when the runtime collects garbage and returns free memory. By itself it keeps the memory of a long
// backlog for minutes after that has drained, as nothing is allocated that would start a collection, and a memory
// alarm would last as long.
//
// It is due in a memory alarm, and when the collector has been idle for a second: if memory has grown since the last
// time, if queues hold less than then, or after a pause, which is twice as long each time that it did not help.
// Contents that queues have released may live on for a moment, in mail or in records on their way to the journal, so
// the pauses begin anew then, as they do when it helped.
//
// Without an alarm the memory goes back in the background, for at once stops everybody: what it has brought is
// measured when that is over.
type release struct {
	last   time.Duration
	pause  time.Duration
	memory int64 // bytes that were left
	held   int64 // bytes that queues held then, entries included

	seen        time.Duration // when the collector was last seen to have worked
	collections uint64

	began *begun // a collection whose memory is going back, nil for none
}

// begun is how things were before a collection.
type begun struct {
	reading
	held int64
}

// due reports whether memory is to be given back now.
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

// settle notes what a collection has brought when that has gone back.
func (g *release) settle(r reading, collections uint64) {
	if b := g.began; b != nil && r.at-b.at >= settling {
		g.done(b.reading, r.memory, collections, b.held)
	}
}

// shrank reports whether queues have given up much.
func (g *release) shrank(held int64) bool { return g.held-held > max(noticeable, g.held/16) }

// done notes what a release has brought.
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
