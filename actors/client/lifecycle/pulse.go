package lifecycle

import (
	"time"
)

// Pulse decides when heartbeats are due, and when a peer is dead. Its owner calls Check once in every interval.
type Pulse struct {
	Every time.Duration // interval between checks, 0 for none
	Limit time.Duration // silence after which the peer is dead, 0 for no limit
	Sends bool          // the peer expects heartbeats

	last   Readings
	silent time.Duration // without a read
}

// Readings are the values that a check compares with the values of the last check.
type Readings struct {
	Read, Written uint32        // counters of reads and writes
	Paused        time.Duration // clock.Paused
	Waiting       bool          // reading waits for the broker
}

// Start begins the first interval.
func (p *Pulse) Start(now Readings) { p.last, p.silent = now, 0 }

// Check ends an interval. beat reports that a heartbeat is due, which the caller sends; dead that the peer was silent
// for too long.
func (p *Pulse) Check(now Readings) (beat, dead bool) {
	if now.Paused != p.last.Paused { // the peer may have sent bytes not read yet
		p.silent = 0
	}
	if now.Read != p.last.Read || now.Waiting {
		p.silent = 0
	} else if p.silent += p.Every; p.Limit > 0 && p.silent >= p.Limit {
		return false, true
	}
	beat = p.Sends && now.Written == p.last.Written
	if p.last = now; beat {
		p.last.Written++ // the heartbeat's own write does not count as traffic
	}
	return beat, false
}
