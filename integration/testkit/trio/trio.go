package trio

import (
	"path/filepath"
	"slices"
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
}

// patience is how long an election may take.
const patience = time.Minute

// New forms a cluster with this time-out of elections, and waits for its first term. Close ends it.
func New(t testing.TB, timeout time.Duration) *Trio {
	t.Helper()
	c := &Trio{TB: t, Network: NewNetwork(), nodes: map[string]*cluster.Node{}, elected: make(chan string, 1000)}
	dir, members := t.TempDir(), map[string]string{}
	for _, name := range Names {
		members[name] = name
	}
	for i, name := range Names {
		n, err := cluster.Open(cluster.Config{
			Dir: filepath.Join(dir, name), Name: name, Members: members, Secret: []byte("secret of the test"), Timeout: timeout, SegmentSize: 1 << 20,
			FS: vfs.NewMemory(uint64(i)), Network: c.Network.Of(name), Log: zerolog.Nop(), OnFailure: func(err error) { t.Errorf("%s: %v", name, err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		c.nodes[name] = n
		go func() {
			for leads := range n.Leads() {
				if leads {
					c.elected <- name
				}
			}
		}()
	}
	c.Lead()
	return c
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
	limit := time.After(patience)
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
			return
		case <-limit:
			c.Fatal("no leader")
		}
	}
}
