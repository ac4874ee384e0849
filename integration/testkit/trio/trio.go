package trio

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/store/vfs"

	"github.com/rs/zerolog"
)

// Names of the nodes.
var Names = []string{"n1", "n2", "n3"}

// Trio is a cluster of three nodes, and the term of the one that leads.
type Trio struct {
	testing.TB
	Network *Network
	// Leader is the node whose term it is.
	Leader      string
	Journal     *cluster.Journal
	Definitions *cluster.Definitions
	nodes       map[string]*cluster.Node
	elected     chan string
	mu          sync.Mutex
	deposed     map[string]chan struct{} // closed when the node no longer leads
}

// patience is how long an election may take.
const patience = time.Minute

// New forms a cluster with this time-out of elections, and waits for its first term. Close ends it. change, unless nil, changes the
// configuration of each node.
func New(t testing.TB, timeout time.Duration, change func(*cluster.Config)) *Trio {
	t.Helper()
	c := &Trio{TB: t, Network: NewNetwork(), nodes: map[string]*cluster.Node{}, elected: make(chan string, 1000), deposed: map[string]chan struct{}{}}
	dir, members := t.TempDir(), map[string]string{}
	for _, name := range Names {
		members[name] = name
	}
	for i, name := range Names {
		cfg := cluster.Config{
			Dir: filepath.Join(dir, name), Name: name, Members: members, Secret: []byte("secret of the test"), Timeout: timeout, SegmentSize: 1 << 20,
			FS: vfs.NewMemory(uint64(i)), Network: c.Network.Of(name), Log: zerolog.Nop(), OnFailure: func(err error) { t.Errorf("%s: %v", name, err) },
		}
		if change != nil {
			change(&cfg)
		}
		n, err := cluster.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c.nodes[name] = n
		go func() {
			for leads := range n.Leads() {
				c.office(name, leads)
			}
			c.office(name, false)
		}()
	}
	c.Lead()
	return c
}

// office notes that a node begins or ends to lead.
func (c *Trio) office(name string, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ended := c.deposed[name]; ended != nil {
		close(ended)
		c.deposed[name] = nil
	}
	if leads {
		c.deposed[name] = make(chan struct{})
		c.elected <- name
	}
}

// Close ends all nodes.
func (c *Trio) Close() {
	for _, n := range c.nodes {
		if err := n.Close(); err != nil {
			c.Error(err)
		}
	}
	c.Network.Close()
}

// Node returns a node.
func (c *Trio) Node(name string) *cluster.Node { return c.nodes[name] }

// Deposed returns a channel that is closed when a node that leads does so no longer.
func (c *Trio) Deposed(name string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ended := c.deposed[name]; ended != nil {
		return ended
	}
	ended := make(chan struct{})
	close(ended)
	return ended
}

// Resign makes the leader hand over. Its broker's stores accept nothing any more.
func (c *Trio) Resign() {
	c.Helper()
	if err := c.nodes[c.Leader].Resign(); err != nil {
		c.Fatal("resign:", err)
	}
}

// Lead waits until a node is elected, other than those of not, and begins its term.
func (c *Trio) Lead(not ...string) {
	c.Helper()
	if !c.Elected(patience, not...) {
		c.Fatal("no leader")
	}
}

// Elected is Lead for an election that may not come within a time.
func (c *Trio) Elected(within time.Duration, not ...string) bool {
	c.Helper()
	limit := time.After(within)
	for {
		select {
		case name := <-c.elected:
			if slices.Contains(not, name) {
				continue
			}
			j, d, err := c.nodes[name].Lead()
			if err != nil {
				continue // it does not lead any more
			}
			c.Leader, c.Journal, c.Definitions = name, j, d
			return true
		case <-limit:
			return false
		}
	}
}
