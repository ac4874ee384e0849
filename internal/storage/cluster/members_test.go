package cluster_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/internal/storage/cluster"

	"github.com/rs/zerolog"
)

// places describes where the members are, as a node knows it.
func (g *trio) places(name string) (list []string) {
	for _, m := range g.nodes[name].Status().Members {
		list = append(list, fmt.Sprint(m.Name, m.Address, m.Clients))
	}
	return list
}

// agree waits until all nodes know where all of them are.
func (g *trio) agree() {
	g.Helper()
	var want []string
	for _, name := range slices.Sorted(maps.Keys(g.cfg)) {
		c := g.cfg[name]
		want = append(want, fmt.Sprint(name, c.Members[name], c.ClientAddresses))
	}
	for name := range g.nodes {
		g.until(func() bool { return slices.Equal(g.places(name), want) })
	}
}

// TestPlaces_CLU24: a cluster whose log has no addresses, as older versions wrote it, opens; then the log gets them, and members find each other
// although their settings name no other node, or an old address.
func TestPlaces_CLU24(t *testing.T) {
	g := newTrio(t, func(name string, c *cluster.Config) {
		c.ClientAddresses = []string{"amqp=" + name + ":5672"}
		raft := filepath.Join(c.Dir, "raft")
		if err := os.MkdirAll(raft, 0o700); err != nil {
			t.Fatal(err)
		}
		file := `{"name":"` + name + `","life":"1"`
		if name == "n1" {
			file += `,"cluster":"x","first":["n1/1","n2/1","n3/1"]`
		}
		if err := os.WriteFile(filepath.Join(raft, "node.json"), []byte(file+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	w := g.lead()
	w.fill(1, 1, 3)
	g.agree()
	for name := range maps.Clone(g.nodes) {
		g.stop(name)
	}
	for name, c := range g.cfg {
		own := c.Members[name]
		if name == "n2" { // it has moved
			own = testkit.FreeAddress(t)
		}
		c.Members = map[string]string{name: own}
		if name == "n2" {
			c.Members["n1"] = g.cfg["n1"].Members["n1"]
		}
		g.cfg[name] = c
		g.start(name)
	}
	w = g.lead()
	w.fill(1, 4, 3)
	g.agree()
	g.settled(w)
}

// TestDifferentSettings_CLU6: nodes whose settings name different nodes form no cluster.
func TestDifferentSettings_CLU6(t *testing.T) {
	said := make(chan string, 1000)
	dir, members := t.TempDir(), map[string]string{"n1": testkit.FreeAddress(t), "n2": testkit.FreeAddress(t)}
	for name := range members {
		c := cluster.Config{Dir: filepath.Join(dir, name), Name: name, Members: maps.Clone(members), Secret: []byte("secret"), Log: zerolog.New(lines(func(s string) { said <- s }))}
		if name == "n2" {
			c.Members["n0"] = testkit.FreeAddress(t)
		}
		n, err := cluster.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
	}
	waitFor(t, said, "the settings of n1 name the members")
}
