package cluster_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	trios "candlemark/integration/testkit/trio"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/copies"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"

	"github.com/rs/zerolog"
)

var simDefault = 100_000

var (
	simSteps = flag.Int("sim-steps", 0, "steps of TestSimulation_CLU1 in all: operations and events")
	simSeed  = flag.Uint64("sim-seed", 1, "seed of the first simulation")
)

// drifting is a machine whose clock is too fast or too slow, and whose wall clock is wrong.
type drifting struct {
	start time.Time
	ppm   int64
	wall  time.Duration
}

func (d *drifting) Now() (int64, time.Duration) {
	passed := time.Since(d.start)
	return d.start.Add(passed + d.wall).UnixNano(), passed
}

func (d *drifting) Boottime() (int64, bool) {
	passed := int64(time.Since(d.start))
	return passed + passed*d.ppm/1_000_000, true
}

// lazy is a disk whose syncs may take a while.
type lazy struct {
	*vfs.Memory
	delay *atomic.Int64
}

type lazyFile struct {
	vfs.File
	delay *atomic.Int64
}

func (l lazy) Open(name string) (vfs.File, error) {
	f, err := l.Memory.Open(name)
	return l.of(name, f), err
}

func (l lazy) Create(name string, size int64) (vfs.File, error) {
	f, err := l.Memory.Create(name, size)
	return l.of(name, f), err
}

// of returns a file of the log with delays. Others are synced while a mutex is held, and time stands still while a goroutine waits for one.
func (l lazy) of(name string, f vfs.File) vfs.File {
	if filepath.Ext(name) != ".log" {
		return f
	}
	return lazyFile{f, l.delay}
}

func (f lazyFile) Sync() error {
	if d := f.delay.Load(); d > 0 {
		<-time.After(time.Duration(d))
	}
	return f.File.Sync()
}

// message states of the model.
const (
	tried     = iota + 1 // whether it is stored is unknown
	confirmed            // it is stored
	removing             // whether it was removed is unknown
	removed
)

// sim is a cluster in virtual time, and the model of what it must have.
type sim struct {
	*testing.T
	random  *rand.Rand
	network *trios.Network
	dir     string
	disks   map[string]lazy
	clocks  map[string]*drifting
	nodes   map[string]*cluster.Node

	mu      sync.Mutex
	states  map[uint64]int // of messages
	leaders map[uint64]string
	term    *simTerm
	shown   time.Duration // by the clock of the last leader, when
	at      time.Time
	elected int
	hung    []string // nodes that have ended
	steps   int
	next    uint64
}

// simTerm is the broker of a term.
type simTerm struct {
	name    string
	node    *cluster.Node
	journal *cluster.Journal
	defs    *cluster.Definitions
	clock   *clock.Clock
}

func newSim(t *testing.T, seed uint64) *sim {
	s := &sim{
		T: t, random: rand.New(rand.NewPCG(seed, 39)), network: trios.NewNetwork(), dir: t.TempDir(), disks: map[string]lazy{}, clocks: map[string]*drifting{},
		nodes: map[string]*cluster.Node{}, states: map[uint64]int{}, leaders: map[uint64]string{},
	}
	for i, name := range trios.Names {
		s.disks[name] = lazy{vfs.NewMemory(seed*3 + uint64(i)), &atomic.Int64{}}
		s.clocks[name] = &drifting{time.Now(), s.random.Int64N(1800) - 900, time.Duration(s.random.Int64N(int64(2*time.Hour))) - time.Hour}
	}
	for _, name := range trios.Names {
		s.start(name)
	}
	return s
}

func (s *sim) start(name string) {
	members := map[string]string{}
	for _, n := range trios.Names {
		members[n] = n
	}
	disk := s.disks[name]
	n, err := cluster.Open(cluster.Config{
		Dir: filepath.Join(s.dir, name), Name: name, Members: members, Secret: []byte("secret of the test"), SegmentSize: 1 << 20, SnapshotEvery: 300 << 10, Kept: 50 << 10,
		Retention: 200 << 10, Hang: time.Hour, FS: disk, Network: s.network.Of(name), Machine: s.clocks[name], Log: zerolog.Nop(),
		OnFailure: func(err error) {
			if errors.Is(err, cluster.ErrHung) || errors.Is(err, copies.ErrTail) { // its process would be replaced
				s.mu.Lock()
				s.hung = append(s.hung, name)
				s.mu.Unlock()
				return
			}
			if !disk.Crashed() && !errors.Is(err, vfs.ErrCrashed) {
				s.Errorf("%s: %v", name, err)
			}
		},
	})
	if err != nil {
		s.Fatalf("%s: %v", name, err)
	}
	s.nodes[name] = n
	go func() {
		for leads := range n.Leads() {
			if leads {
				s.lead(name, n)
			}
		}
	}()
}

// lead begins a term, and checks the time of the cluster and that there is one leader in it.
func (s *sim) lead(name string, n *cluster.Node) {
	if t := s.leader(); t != nil && t.node != n && t.journal.Current() {
		s.Errorf("%s is elected while %s has the lease of term %d", name, t.name, t.node.Term())
	}
	j, d, err := n.Lead()
	if err != nil {
		return
	}
	c := n.Clock()
	if c == nil {
		return // it does not lead any more
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	term := n.Term()
	if other := s.leaders[term]; other != "" && other != name {
		s.Errorf("%s and %s lead term %d", other, name, term)
	}
	s.leaders[term] = name
	s.elected++
	shows := time.Duration(c.Now())
	if expected := s.shown + time.Since(s.at); s.term != nil && shows > expected {
		s.Errorf("early: %s leads term %d, its clock is %v ahead", name, term, shows-expected)
	}
	s.term = &simTerm{name, n, j, d, c}
	s.shown, s.at = shows, time.Now()
}

// crash ends a node by a power cut, or by the end of its process.
func (s *sim) crash(name string) {
	n, disk := s.nodes[name], s.disks[name]
	delete(s.nodes, name)
	disk.CrashAfter(0)
	_ = n.Close() // nothing can be stored any more
	if s.random.IntN(2) == 0 {
		disk.Crash()
	} else {
		disk.Kill()
	}
}

// put stores a message, if a node leads.
func (s *sim) put() {
	t := s.leader()
	if t == nil {
		return
	}
	size := 100
	if s.random.IntN(50) == 0 {
		size = 20_000
	}
	s.mu.Lock()
	s.next++
	seq := s.next
	s.states[seq] = tried
	s.mu.Unlock()
	t.journal.Append(store.QueueID(1+seq%3), []store.Record{message(seq, make([]byte, size))}, func(err error) { s.settle(seq, tried, confirmed, err) })
}

func (s *sim) settle(seq uint64, from, to int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.states[seq] == from {
		s.states[seq] = to
	}
}

// remove removes some confirmed message.
func (s *sim) remove() {
	t := s.leader()
	if t == nil || s.next == 0 {
		return
	}
	seq := 1 + s.random.Uint64N(s.next)
	s.mu.Lock()
	ok := s.states[seq] == confirmed
	if ok {
		s.states[seq] = removing
	}
	s.mu.Unlock()
	if ok {
		list := []store.Record{{Kind: store.Remove, First: seq, Last: seq, Why: store.Acked}}
		t.journal.Append(store.QueueID(1+seq%3), list, func(err error) { s.settle(seq, removing, removed, err) })
	}
}

func (s *sim) leader() *simTerm {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term
}

// replace starts the processes again that have ended.
func (s *sim) replace() {
	s.mu.Lock()
	list := s.hung
	s.hung = nil
	s.mu.Unlock()
	for _, name := range list {
		if s.nodes[name] != nil {
			s.crash(name)
			s.start(name)
		}
	}
}

// event is something that goes wrong, or that is mended.
func (s *sim) event() {
	name := trios.Names[s.random.IntN(3)]
	other := trios.Names[s.random.IntN(3)]
	switch s.random.IntN(8) {
	case 0, 1:
		if s.nodes[name] != nil {
			s.crash(name)
		}
	case 2, 3:
		if s.nodes[name] == nil {
			s.start(name)
		}
	case 4:
		if name != other {
			s.network.Cut(name, other, true)
		}
	case 5:
		s.mend()
	case 6:
		s.disks[name].delay.Store(int64(s.random.IntN(3)) * int64(30*time.Millisecond))
	case 7:
		if n := s.nodes[name]; n != nil {
			go func() { _ = n.Resign() }()
		}
	}
}

func (s *sim) mend() {
	for _, a := range trios.Names {
		for _, b := range trios.Names {
			s.network.Cut(a, b, false)
		}
	}
}

// check mends everything, waits until all nodes have the same, and compares it with the model.
func (s *sim) check() {
	s.mend()
	for _, name := range trios.Names {
		s.disks[name].delay.Store(0)
		if s.nodes[name] == nil {
			s.start(name)
		}
	}
	limit := time.Now().Add(10 * time.Minute)
	for {
		s.replace()
		t := s.leader()
		if t != nil && s.nodes[t.name] == t.node {
			done := make(chan error, 1)
			t.journal.Append(9, []store.Record{message(s.next+1, nil), {Kind: store.Remove, First: s.next + 1, Last: s.next + 1, Why: store.Purged}}, func(err error) { done <- err })
			if <-done == nil && s.equal() {
				break
			}
		}
		if time.Now().After(limit) {
			s.Fatalf("the nodes do not come together: %s", s.describe())
		}
		<-time.After(100 * time.Millisecond)
	}
	lists, err := s.leader().node.Messages()
	if err != nil {
		s.Fatal(err)
	}
	found := map[uint64]bool{}
	for _, list := range lists {
		for _, m := range list {
			found[m.Seq] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq, state := range s.states {
		switch {
		case state == confirmed && !found[seq]:
			s.Errorf("message %d was confirmed and is lost", seq)
		case state == removed && found[seq]:
			s.Errorf("message %d was removed and is there again", seq)
		case found[seq] && state == tried:
			s.states[seq] = confirmed
		case !found[seq]:
			delete(s.states, seq)
		}
		delete(found, seq)
	}
	for seq := range found {
		s.Errorf("message %d was never sent", seq)
	}
}

// equal reports whether all nodes have the same data.
func (s *sim) equal() bool {
	texts := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		text, err := s.nodes[name].Describe()
		if err != nil {
			return false
		}
		texts[text] = true
	}
	return len(texts) == 1
}

func (s *sim) describe() (text string) {
	for name, n := range s.nodes {
		text += fmt.Sprintf("%s follows %q, ", name, n.Leader())
	}
	return text
}

// run makes so many steps.
func (s *sim) run(steps int) {
	for s.steps < steps && !s.Failed() {
		for range 20 + s.random.IntN(60) {
			if s.random.IntN(3) > 0 {
				s.put()
			} else {
				s.remove()
			}
			s.steps++
		}
		if s.random.IntN(100) == 0 {
			if t := s.leader(); t != nil {
				t.defs.Apply(definitions.Change{Put: []any{definitions.Incarnation(s.next)}}, nil)
			}
		}
		if s.random.IntN(2) == 0 {
			s.event()
			s.steps++
		}
		<-time.After(time.Duration(s.random.IntN(200)) * time.Millisecond)
		s.replace()
		if s.random.IntN(60) == 0 {
			s.check()
		}
	}
	s.check()
	for name := range maps.Clone(s.nodes) {
		if err := s.nodes[name].Close(); err != nil {
			s.Errorf("%s: %v", name, err)
		}
	}
	s.network.Close()
}

// TestSimulation_CLU1: random crashes, power cuts, cut links, slow disks and drifting clocks; nothing that was confirmed is lost, nothing is early,
// a term has one leader, and all nodes have the same data.
func TestSimulation_CLU1(t *testing.T) {
	const each = 20_000
	steps := cmp.Or(*simSteps, simDefault)
	for done, seed := 0, *simSeed; done < steps && !t.Failed(); done, seed = done+each, seed+1 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			synctest.Test(t, func(t *testing.T) {
				s := newSim(t, seed)
				start := time.Now()
				s.run(min(each, steps))
				t.Logf("%d steps, %d terms, %v of virtual time", s.steps, s.elected, time.Since(start).Round(time.Second))
			})
			t.Logf("%v", time.Since(began).Round(time.Millisecond))
		})
	}
}
