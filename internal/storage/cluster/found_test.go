package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/discovery"
	"candlemark/internal/storage/definitions"

	"github.com/rs/zerolog"
)

// book has the addresses of nodes by name, as the DNS has them.
type book struct {
	mu sync.Mutex
	at map[string]string
}

func (b *book) set(t *testing.T, name string) (address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	address = testkit.FreeAddress(t)
	b.at[name] = address
	return address
}

// reader finds all nodes of a book for one of them.
type reader struct {
	*book
	name string
}

func (r reader) Find(context.Context) (f discovery.Found, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.Own = r.at[r.name]
	for _, name := range slices.Sorted(maps.Keys(r.at)) {
		if name != r.name {
			f.Others = append(f.Others, r.at[name])
		}
	}
	if len(f.Others) == 0 {
		err = errors.New("no such host")
	}
	return f, err
}

// logged sends lines of the log to a channel that need not be read.
func logged(said chan string) zerolog.Logger {
	return zerolog.New(lines(func(s string) {
		select {
		case said <- s:
		default:
		}
	}))
}

// TestFound_CLU30: nodes that find each other form a cluster when as many are there as are to be; others join it. All may get other addresses at once.
func TestFound_CLU30(t *testing.T) {
	said, b := make(chan string, 1000), &book{at: map[string]string{}}
	change := func(name string, c *cluster.Config) {
		c.Members, c.Finder, c.Size, c.Listen = nil, reader{b, name}, 4, b.set(t, name)
		c.ClientAddresses, c.Log = []string{"amqp=:5672"}, logged(said)
	}
	g := newTrio(t, change)
	waitFor(t, said, "3 of 4 nodes are there")
	for name := range g.nodes {
		if g.nodes[name].Status().Cluster != "" {
			t.Errorf("%s has a cluster", name)
		}
	}
	add := func(name string) {
		c := g.cfg["n1"]
		c.Dir, c.Name = filepath.Join(filepath.Dir(c.Dir), name), name
		change(name, &c)
		g.cfg[name] = c
		g.start(name)
		g.until(func() bool { return g.nodes[name].Votes() })
	}
	add("n4")
	w := g.lead()
	w.fill(1, 1, 3)
	add("n5")
	g.settled(w)
	for name := range maps.Clone(g.nodes) {
		g.stop(name)
	}
	for name, c := range g.cfg { // nothing in the log is true any more
		c.Listen = b.set(t, name)
		g.cfg[name] = c
	}
	for name := range g.cfg {
		g.start(name)
	}
	w = g.lead()
	w.fill(1, 4, 3)
	g.settled(w)
	var want []string
	for _, name := range slices.Sorted(maps.Keys(g.cfg)) {
		want = append(want, fmt.Sprint(name, b.at[name], "[amqp=127.0.0.1:5672]"))
	}
	for name := range g.nodes {
		g.until(func() bool { return slices.Equal(g.places(name), want) })
	}
}

// TestPromises_CLU30: a node that was about to form a cluster waits for all of its first members; one that belongs to another cluster never is one.
func TestPromises_CLU30(t *testing.T) {
	said, b := make(chan string, 1000), &book{at: map[string]string{}}
	var first []string
	for _, name := range []string{"n1", "n2", "n3"} {
		first = append(first, `"`+name+`/1 `+b.set(t, name)+` version=2"`)
	}
	g := newTrio(t, func(name string, c *cluster.Config) {
		c.Members, c.Finder, c.Size, c.Listen, c.Log = nil, reader{b, name}, 3, b.at[name], logged(said)
		raft, file := filepath.Join(c.Dir, "raft"), `{"name":"`+name+`","life":"1"`
		switch name {
		case "n1":
			file += `,"cluster":"x","first":[` + strings.Join(first, ",") + `]`
		case "n3":
			file += `,"cluster":"y"`
		}
		if err := errors.Join(os.MkdirAll(raft, 0o700), os.WriteFile(filepath.Join(raft, "node.json"), []byte(file+"}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	})
	waitFor(t, said, "n3 belongs to the cluster y, the caller to x")
	g.until(func() bool { return g.nodes["n2"].Status().Cluster == "x" })
	for name := range g.nodes {
		if g.nodes[name].Leader() != "" {
			t.Errorf("%s has a leader", name)
		}
	}
}

// TestAlone_CLU30: a broker alone becomes the first node of a cluster when as many nodes are found as are to be.
func TestAlone_CLU30(t *testing.T) {
	b := &book{at: map[string]string{}}
	c := cluster.Config{Dir: filepath.Join(t.TempDir(), "n1"), Name: "n1", Finder: reader{b, "n1"}, Size: 3, Listen: b.set(t, "n1"), Secret: []byte("secret"), Timeout: 1, Log: zerolog.Nop()}
	single(t, c.Dir, 3)
	b.set(t, "n2")
	if _, err := cluster.Open(c); !errors.Is(err, definitions.ErrSingle) || !strings.Contains(err.Error(), "when all nodes of its settings are there") {
		t.Errorf("got %v", err)
	}
	g := newTrio(t, func(name string, c *cluster.Config) {
		c.Members, c.Finder, c.Size, c.Listen = nil, reader{b, name}, 3, b.set(t, name)
		if name == "n1" {
			single(t, c.Dir, 3)
		}
	})
	w := g.lead()
	for name := range g.nodes {
		g.until(func() bool { return g.nodes[name].Votes() })
	}
	g.settled(w)
}
