package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"candlemark/internal/storage/cluster/clocks"
	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

// position is the last entry of a log. A log never goes back, but an older copy of a folder does.
type position struct{ Term, Index uint64 }

func (p position) before(q position) bool {
	return p.Term < q.Term || p.Term == q.Term && p.Index < q.Index
}

// witness remembers how far the logs of the other nodes were (CLU-11). A node that was started from an older copy of its own folder has
// lost entries that it has acknowledged: for a vote it counts as having them.
type witness struct {
	node *Node
	path string

	mu      sync.Mutex
	seen    map[string]position // by identity
	saved   map[string]position
	at      map[string]time.Time // when a node was heard for the last time
	moved   map[string]time.Time // when there was news of a node for the last time, from itself or others
	free    map[string]int64     // bytes of the disk
	held    map[uint64]time.Time // entries with which sent copies of the data end, and until when they count
	started time.Time
	led     time.Time // when there was a leader for the last time
}

// stuck is for how many time-outs there must be no leader, with all nodes there, until witnesses are not believed: then too many nodes
// have lost entries, and the cluster goes on with the best log that is left.
const stuck = 75

func openWitness(n *Node, dir string) (*witness, error) {
	w := &witness{node: n, path: filepath.Join(dir, "peers.json"), seen: map[string]position{}, at: map[string]time.Time{}, moved: map[string]time.Time{}, free: map[string]int64{}, held: map[uint64]time.Time{}, led: time.Now(), started: time.Now()}
	err := vfs.ReadJSON(n.cfg.FS, w.path, &w.seen)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	w.saved = maps.Clone(w.seen)
	return w, err
}

// note records news of a node, from itself.
func (w *witness) note(identity string, r remark) {
	w.recall(identity, r.last)
	w.mu.Lock()
	w.free[identity] = r.free
	w.at[identity] = time.Now()
	w.moved[identity] = w.at[identity]
	w.mu.Unlock()
}

// hears reports whether a node was heard a short time ago.
func (w *witness) hears(identity string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, heard := w.at[identity]
	return heard && time.Since(at) < online
}

// recall records that the log of a node was at a position once.
func (w *witness) recall(identity string, p position) {
	if identity == w.node.self.Identity() || p.Index == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[identity].before(p) {
		w.seen[identity], w.moved[identity] = p, time.Now()
	}
}

// lacks reports whether the log of a candidate lacks entries that a node has acknowledged, and so gets no vote of that node, or from it.
func (w *witness) lacks(candidate position, identity string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return candidate.before(w.seen[identity]) && !w.stuck()
}

// stuck reports whether no node can be elected although all are there. The witness is locked.
func (w *witness) stuck() bool {
	now, long := time.Now(), stuck*w.node.cfg.Timeout
	if w.node.leader() != "" || now.Sub(w.led) < long {
		return false
	}
	for _, s := range w.node.members.servers() {
		if id := string(s.ID); s.Suffrage == raft.Voter && id != w.node.self.Identity() && now.Sub(w.at[id]) > long/4 {
			return false
		}
	}
	return true
}

// keep stores what was seen of the present members, if that has changed.
func (w *witness) keep() error {
	members := w.node.members.servers()
	w.mu.Lock()
	if w.node.leader() != "" {
		w.led = time.Now()
	}
	is := map[string]bool{}
	for _, s := range members {
		is[string(s.ID)] = true
	}
	if len(members) > 0 {
		maps.DeleteFunc(w.seen, func(identity string, _ position) bool { return !is[identity] })
	}
	for _, times := range []map[string]time.Time{w.at, w.moved} {
		maps.DeleteFunc(times, func(identity string, _ time.Time) bool { return !is[identity] })
	}
	maps.DeleteFunc(w.free, func(identity string, _ int64) bool { return !is[identity] })
	seen := maps.Clone(w.seen)
	w.mu.Unlock()
	if maps.Equal(seen, w.saved) {
		return nil
	}
	err := vfs.WriteJSON(w.node.cfg.FS, w.path, seen)
	if err == nil {
		w.saved = seen
	}
	return err
}

// patience is for how long the log is kept for a node that is away.
const patience = 15 * time.Minute

// hold keeps the log behind an entry for a time, for a node that gets a copy of the data up to it.
func (w *witness) hold(index uint64, lasts time.Duration) {
	w.mu.Lock()
	w.held[index] = time.Now().Add(lasts)
	w.mu.Unlock()
}

// needed returns the first entry that lagging nodes need, with the one before what they lack, which raft compares: of the log of the slowest node of which there was news lately, and of
// copies that are being sent (CLU-13).
func (w *witness) needed() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, now := uint64(math.MaxUint64), time.Now()
	for _, s := range w.node.members.servers() {
		id := string(s.ID)
		moved, ok := w.moved[id]
		if !ok {
			moved = w.started // nothing was heard yet
		}
		if id != w.node.self.Identity() && now.Sub(moved) < patience {
			first = min(first, w.seen[id].Index)
		}
	}
	for index, until := range w.held {
		if now.After(until) {
			delete(w.held, index)
			continue
		}
		first = min(first, index)
	}
	return first
}

// retention returns how many bytes of the log are kept for lagging nodes.
func (n *Node) retention() int64 {
	if n.cfg.Retention > 0 {
		return n.cfg.Retention
	}
	free, err := n.cfg.FS.Free(n.cfg.Dir)
	if err != nil {
		return 0
	}
	return int64(min(free/10, 8<<30))
}

// measure reads how much of this node's disk is free.
func (n *Node) measure() {
	free, err := n.cfg.FS.Free(n.cfg.Dir)
	if err != nil {
		free = math.MaxInt64
	}
	n.free.Store(int64(min(free, math.MaxInt64)))
}

// FreeDisk returns how many bytes a majority of the nodes can still store, as far as is known: a leader must not fill the disks of
// the others, because consumers, too, free nothing without them (CLU-14).
func (n *Node) FreeDisk() int64 {
	list := []int64{n.free.Load()}
	w := n.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range n.members.servers() {
		id := string(s.ID)
		if s.Suffrage != raft.Voter || id == n.self.Identity() {
			continue
		}
		free, known := w.free[id]
		if !known {
			free = math.MaxInt64
		}
		list = append(list, free)
	}
	slices.Sort(list)
	return list[(len(list)-1)/2] // so many and more have a majority
}

// last returns how far this node's own log is.
func (n *Node) last() position {
	if term, index := n.log.Last(); index > 0 {
		return position{term, index}
	}
	if s := n.copies.Saved(); s != nil {
		return position{s.Term, s.Index}
	}
	return position{}
}

// remark is news of a node, in the address of raft's headers: a stamp, how far the log of the sender is, and, in heartbeats, how far those
// of the other nodes were.
type remark struct {
	clocks.Stamp
	last position
	free int64 // bytes of the disk
	seen map[string]position
}

// now implements node.
func (n *Node) now() int64 {
	now, _ := n.timing.read()
	return now
}

// hear implements node.
func (n *Node) hear(identity string, r remark) {
	n.timing.clocks.Heard(r.Stamp, n.now())
	if r.Kind == clocks.Leads && r.Term > n.timing.term.Load() {
		select { // the time of an earlier leader, which may be ahead, must not be what is found after a restart
		case n.timing.another <- struct{}{}:
		default:
		}
	}
	n.witness.note(identity, r)
	for other, p := range r.seen {
		n.witness.recall(other, p)
	}
}

// answered implements node.
func (n *Node) answered(id raft.ServerID, address []byte, term uint64, sent int64, err error) {
	if err != nil {
		return
	}
	_, r := readRemark(address)
	n.timing.clocks.Answered(nodeid.NameOf(string(id)), r.Stamp, term, sent, n.now())
	n.witness.note(string(id), r)
}

// trusted implements node.
func (n *Node) trusted(candidate position, identity string) bool {
	if n.witness.lacks(candidate, identity) {
		n.cfg.Log.Warn().Str("node", identity).Msg("a node has lost entries that it has acknowledged, as from an older copy of its folder: it does not count in elections until a leader has sent them again")
		return false
	}
	return true
}

// stored judges the result of storing what this node knows of the others.
func (w *witness) stored(err error) {
	n := w.node
	if errors.Is(err, vfs.ErrFull) {
		n.cfg.Log.Warn().Err(err).Msg("what this node knows of the others is not stored")
	} else if err != nil {
		n.fail(fmt.Errorf("what this node knows of the others: %w", err))
	}
}

// keep stores what is to be known after a restart, and compares the clocks of the nodes, each second.
func (n *Node) keep() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-n.timing.another:
			n.witness.stored(n.timing.save())
		case <-tick.C:
			n.measure()
			n.askReports()
			n.witness.stored(errors.Join(n.timing.save(), n.witness.keep()))
			if n.timing.stamp().Kind == clocks.Leads {
				n.timing.compare()
			}
		case <-n.ended:
			return
		}
	}
}

// maxSeen is how many nodes a remark names; a cluster has seven.
const maxSeen = 16

func (n *Node) remark(heartbeat bool) []byte {
	b := n.timing.stamp().Append([]byte(n.self.Identity()))
	last := n.last()
	b = binary.LittleEndian.AppendUint64(appendPosition(b, last), uint64(n.free.Load()))
	if !heartbeat {
		return append(b, 0)
	}
	w := n.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	at := len(b)
	b = append(b, 0)
	for identity, p := range w.seen {
		if len(identity) < 256 && b[at] < maxSeen {
			b[at]++
			b = append(append(b, byte(len(identity))), identity...)
			b = appendPosition(b, p)
		}
	}
	return b
}

func appendPosition(b []byte, p position) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, p.Term), p.Index)
}

// readRemark separates the address and the remark of a header. A remark that is not whole has no list.
func readRemark(b []byte) (address []byte, r remark) {
	address, r.Stamp, b = clocks.Cut(b)
	read := func() (p position) {
		p = position{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
		b = b[16:]
		return p
	}
	if len(b) < 25 {
		return address, r
	}
	r.last = read()
	r.free = int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	count := b[0]
	for b = b[1:]; count > 0 && len(b) > 0 && len(b) >= 1+int(b[0])+16; count-- {
		identity := string(b[1 : 1+b[0]])
		b = b[1+b[0]:]
		if r.seen == nil {
			r.seen = map[string]position{}
		}
		r.seen[identity] = read()
	}
	return address, r
}
