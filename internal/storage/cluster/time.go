package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/cluster/clocks"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

const (
	// apart is how far the clocks of two nodes may be apart without a warning.
	apart = time.Second
	// tooFar is how far the clock of a node may be away from those of the cluster that it wants to join.
	tooFar = 15 * time.Second
	// slack is by how much what a node remembers of the time may be wrong, always so that the time of the cluster is late.
	slack = int64(10 * time.Millisecond)
)

// timing is a node's knowledge of the cluster's time (CLU-9).
type timing struct {
	node    *Node
	machine clock.Machine
	path    string
	clocks  *clocks.Clocks
	term    atomic.Uint64 // of the last leader whose time is stored
	another chan struct{} // gets something when there is the time of a later leader
	mu      sync.Mutex    // held to store
	saved   clocks.Memory
	warned  map[string]bool // of nodes whose clocks are apart
}

// reign is the clock of the broker of a term.
type reign struct {
	term  uint64
	clock *clock.Clock
}

func openTiming(n *Node, dir string) (*timing, error) {
	t := &timing{node: n, machine: n.cfg.Machine, path: filepath.Join(dir, "time.json"), another: make(chan struct{}, 1), warned: map[string]bool{}}
	err := vfs.ReadJSON(n.cfg.FS, t.path, &t.saved)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	t.clocks = clocks.New(t.saved)
	t.term.Store(t.saved.Term)
	return t, err
}

// read returns the node's own clock, which includes sleep, and its wall clock, in ns.
func (t *timing) read() (now, wall int64) {
	wall, awake := t.machine.Now()
	if boot, ok := t.machine.Boottime(); ok {
		return boot, wall
	}
	return int64(awake), wall
}

// stamp returns what this node says about time.
func (t *timing) stamp() clocks.Stamp {
	now, wall := t.read()
	n := t.node
	if r := n.reign.Load(); r != nil && n.started() {
		at := int64(r.clock.Now())
		if n.raft.State() == raft.Leader && n.raft.CurrentTerm() == r.term {
			return clocks.Stamp{Kind: clocks.Leads, Term: r.term, Time: at, Wall: wall}
		}
		if n.reign.CompareAndSwap(r, nil) {
			t.clocks.Led(r.term, now, at)
		}
	}
	return t.clocks.Stamp(now, wall)
}

// begin returns a clock for the broker of a term, which goes on with the time of the cluster.
func (t *timing) begin(term uint64) (*reign, error) {
	for {
		if _, ok := t.now(term); ok {
			return &reign{term, clock.Continue(dated{t}, func() int64 {
				now, _ := t.now(term)
				return now
			})}, nil
		}
		select {
		case <-time.After(t.node.cfg.Timeout / 40):
		case <-t.node.ended:
			return nil, ErrLost
		}
		if t.node.raft.State() != raft.Leader || t.node.raft.CurrentTerm() != term {
			return nil, ErrLost
		}
	}
}

// now returns the time of the cluster with which the broker of a term begins; false if too few nodes have answered.
func (t *timing) now(term uint64) (int64, bool) {
	now, wall := t.read()
	return t.clocks.Begin(term, t.node.members.voters(), now, wall)
}

// dated is the machine of a broker's clock: its wall clock is that of the cluster (CLU-10).
type dated struct{ *timing }

// Now implements clock.Machine.
func (d dated) Now() (wall int64, awake time.Duration) {
	_, awake = d.machine.Now()
	now, own := d.read()
	return d.clocks.Dates(now, own), awake
}

// Boottime implements clock.Machine.
func (d dated) Boottime() (int64, bool) { return d.machine.Boottime() }

// save stores what is to be known after a restart, if it differs.
func (t *timing) save() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, wall := t.read()
	if r := t.node.reign.Load(); r != nil {
		t.clocks.Led(r.term, now, int64(r.clock.Now()))
	}
	m := t.clocks.Remember(now, wall)
	m.Ahead += slack
	if m.Term == 0 || m.Term == t.saved.Term && max(m.Ahead-t.saved.Ahead, t.saved.Ahead-m.Ahead) < slack {
		return nil
	}
	err := vfs.WriteJSON(t.node.cfg.FS, t.path, m)
	if err == nil {
		t.saved = m
		t.term.Store(m.Term)
	}
	return err
}

// compare logs which clocks are far away from this node's.
func (t *timing) compare() {
	list := t.apart()
	for _, name := range slices.Sorted(maps.Keys(list)) {
		by := list[name]
		if far := by.Abs() > apart; far != t.warned[name] {
			t.warned[name] = far
			if far {
				t.node.cfg.Log.Warn().Str("node", name).Int64("ahead_ms", by.Milliseconds()).
					Msg("the clocks of two nodes of the cluster are apart: dates follow the median of all clocks")
			} else {
				t.node.cfg.Log.Info().Str("node", name).Msg("the clocks of two nodes of the cluster agree again")
			}
		}
	}
}

func (t *timing) apart() map[string]time.Duration {
	now, wall := t.read()
	return t.clocks.Apart(now, wall)
}

// ApartClocks returns by how much the wall clocks of the nodes that have answered in the last minute are ahead of this node's, by
// name. Only a leader is answered.
func (n *Node) ApartClocks() map[string]time.Duration { return n.timing.apart() }

// far returns why a node with a wall clock, in ns since 1970, cannot join: "" if it can.
func (t *timing) far(name string, wall int64) string {
	_, own := t.read()
	by := time.Duration(wall - own)
	if wall == 0 || by.Abs() <= tooFar {
		return ""
	}
	word := "ahead of"
	if by < 0 {
		word = "behind"
	}
	return fmt.Sprintf("the clock of %s is %v %s that of %s: a node joins when its clock is right within %v",
		name, by.Abs().Round(time.Millisecond), word, t.node.cfg.Name, tooFar)
}

// Term returns the term of the broker that Lead has begun, 0 for none.
func (n *Node) Term() uint64 {
	if r := n.reign.Load(); r != nil {
		return r.term
	}
	return 0
}

// Clock returns the clock for the broker of the present term, nil while this node does not lead. Lead makes it.
func (n *Node) Clock() *clock.Clock {
	if r := n.reign.Load(); r != nil {
		return r.clock
	}
	return nil
}
