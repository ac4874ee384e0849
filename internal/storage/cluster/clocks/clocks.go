package clocks

import (
	"slices"
	"sync"
	"time"
)

// drift is by how much the clocks of two machines may differ in speed, as a fraction 1/drift: 500 ppm each.
const drift = 1000

// Reach is for how long the wall clock of a node counts after it was heard.
const Reach = time.Minute

// Memory is kept over a restart.
type Memory struct {
	// Term of the leader whose time it was, 0 for none.
	Term uint64 `json:"term"`
	// Ahead is by how much the node's wall clock was ahead of the cluster's time, at most, in ns.
	Ahead int64 `json:"ahead"`
	// Least is a time of the cluster that has passed, in ns since 1970.
	Least int64 `json:"least"`
}

// Clocks is the knowledge of a node. It is safe for concurrent use.
type Clocks struct {
	mu     sync.Mutex
	live   bool  // a leader was heard since the start
	ahead  int64 // of the node's clock before the cluster's time, at most, at the moment at
	at     int64
	term   uint64 // of the leader whose time it is
	memory Memory // from before the start
	least  int64
	peers  map[string]*peer
}

// peer is the last news of another node.
type peer struct {
	stamp Stamp
	at    int64  // when, by the node's own clock
	in    uint64 // the term of the answer that had the stamp
	wall  int64  // its wall clock is ahead of the node's own clock, ns
	round int64  // how exact that is: how long the answer took
}

// New returns the knowledge of a node that starts.
func New(m Memory) *Clocks { return &Clocks{memory: m, least: m.Least, peers: map[string]*peer{}} }

// Heard records a stamp of a leader. Stamps of earlier leaders than the last one are ignored.
func (c *Clocks) Heard(s Stamp, now int64) {
	if s.Kind != Leads {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.Term < c.term {
		return
	}
	c.least = max(c.least, s.Time)
	switch sample := now - s.Time; {
	case s.Term > c.term || !c.live:
		c.live, c.term, c.ahead, c.at = true, s.Term, sample, now
	default:
		c.ahead, c.at = min(c.aheadAt(now), sample), now
	}
}

// Answered records the stamp in the answer of a node to a call that was sent earlier, in a term.
func (c *Clocks) Answered(name string, s Stamp, term uint64, sent, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.peers[name]
	round, wall := now-sent, s.Wall-(sent+(now-sent)/2)
	if p == nil || s.Wall != 0 && (round <= p.round*2 || now-p.at > int64(time.Second)) {
		p = &peer{wall: wall, round: round}
		c.peers[name] = p
	}
	p.stamp, p.at, p.in = s, now, term
}

// Least records a time that has passed, of a stored entry.
func (c *Clocks) Least(passed int64) {
	c.mu.Lock()
	c.least = max(c.least, passed)
	c.mu.Unlock()
}

// aheadAt returns by how much the node's clock may be ahead: the older the knowledge, the more. The lock is held.
func (c *Clocks) aheadAt(now int64) int64 { return c.ahead + max(now-c.at, 0)/drift }

// Stamp returns what a node that does not lead tells others.
func (c *Clocks) Stamp(now, wall int64) Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own(now, wall)
}

func (c *Clocks) own(now, wall int64) Stamp {
	switch {
	case c.live:
		return Stamp{Follows, c.term, now - c.aheadAt(now), wall}
	case c.memory.Term > 0:
		return Stamp{Remembers, c.memory.Term, wall - c.memory.Ahead, wall}
	}
	return Stamp{Wall: wall}
}

// Remember returns what is to be kept over a restart.
func (c *Clocks) Remember(now, wall int64) Memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.memory
	if c.live {
		m = Memory{Term: c.term, Ahead: c.aheadAt(now) + wall - now}
	}
	m.Least = c.least
	return m
}

// Begin returns the time of the cluster with which the leader of a term goes on; false if too few nodes have answered in this term, of
// the voters, this node among them. It is not ahead of what the last leader's clock would show (CLU-9).
func (c *Clocks) Begin(term uint64, voters []string, now, wall int64) (begin int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := []Stamp{c.own(now, wall)}
	for _, name := range voters {
		p := c.peers[name]
		if p == nil || p.in != term {
			continue
		}
		s := p.stamp
		age := now - p.at
		s.Time += age - age/drift
		said = append(said, s)
	}
	if len(said) <= len(voters)/2 {
		return 0, false
	}
	begin = best(said)
	if begin == 0 { // the first leader of all
		begin = c.median(now, wall) + now
	}
	return max(begin, c.least), true
}

// best returns the best estimate: the latest one by the last leader's clock, or, if nobody has heard that one since its own start, the
// earliest of all. It is 0 if nobody knows anything.
func best(said []Stamp) (t int64) {
	last := uint64(0)
	for _, s := range said {
		if s.Kind != None {
			last = max(last, s.Term)
		}
	}
	for _, s := range said {
		if s.Kind == Follows && s.Term == last {
			t = max(t, s.Time)
		}
	}
	if t > 0 {
		return t
	}
	for _, s := range said {
		if s.Kind != None && (t == 0 || s.Time < t) {
			t = s.Time
		}
	}
	return t
}

// Led records the time of this node's own broker: it leads, or has led, a term.
func (c *Clocks) Led(term uint64, now, cluster int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if term >= c.term {
		c.live, c.term, c.ahead, c.at = true, term, now-cluster, now
		c.least = max(c.least, cluster)
	}
}

// Dates returns what the wall clocks of the cluster show: the median of all that were heard, or the earlier one of two, so that no date is
// early because a clock is wrong (CLU-10).
func (c *Clocks) Dates(now, wall int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.median(now, wall) + now
}

// median returns by how much the median of the wall clocks is ahead of the node's own clock. A wall clock that may show the same as the node's own, by how long the
// answer took, counts as showing the same: no date is early, or late, because a message between two nodes was.
func (c *Clocks) median(now, wall int64) int64 {
	own := wall - now
	list := []int64{own}
	for _, p := range c.peers {
		if p.stamp.Wall == 0 || now-p.at >= int64(Reach) {
			continue
		}
		if by := p.wall - own; -p.round/2 <= by && by <= p.round/2 {
			list = append(list, own)
		} else {
			list = append(list, p.wall)
		}
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

// Apart returns by how much the wall clocks of the nodes that were heard are ahead of the node's own.
func (c *Clocks) Apart(now, wall int64) map[string]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := map[string]time.Duration{}
	for name, p := range c.peers {
		if p.stamp.Wall != 0 && now-p.at < int64(Reach) {
			list[name] = time.Duration(p.wall - (wall - now))
		}
	}
	return list
}
