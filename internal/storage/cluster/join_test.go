package cluster_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/wire"
	"candlemark/internal/storage/definitions"

	"github.com/rs/zerolog"
)

// fourth returns the settings of a node that names the others of a cluster, which do not name it.
func (g *trio) fourth(said chan string) cluster.Config {
	c := g.cfg["n1"]
	c.Dir, c.Name, c.Members = filepath.Join(filepath.Dir(c.Dir), "n4"), "n4", map[string]string{"n4": testkit.FreeAddress(g.T)}
	c.Members["n2"] = g.cfg["n2"].Members["n2"] // one is enough
	c.Log = zerolog.New(lines(func(s string) {
		select {
		case said <- s:
		default:
		}
	}))
	return c
}

// follower returns the name of a node that does not lead.
func (w *term) follower() string { return others(w.name)[0] }

// TestJoin_CLU25: a fourth node with an empty folder becomes a voter and gets everything; one that was stopped is forgotten, is refused when it comes
// back with its folder, and is a new member with an empty one.
func TestJoin_CLU25(t *testing.T) {
	said := make(chan string, 1000)
	g := newTrio(t, func(name string, c *cluster.Config) {
		shortLog(name, c)
		steady(name, c)
		c.Log = zerolog.New(lines(func(s string) {
			select {
			case said <- s:
			default:
			}
		}))
	})
	w := g.lead()
	w.fill(1, 1, 40)
	own := make(chan string, 1000)
	g.cfg["n4"] = g.fourth(make(chan string))
	g.start("n4")
	g.until(func() bool { return g.nodes["n4"].Votes() })
	g.settled(w)
	away := w.follower()
	if err := g.nodes[w.name].Members().Forget(away); !errors.Is(err, cluster.ErrRuns) {
		t.Errorf("a running node: %v", err)
	}
	g.stop(away)
	w.sure(func() error { return g.forget(w, away) })
	if n := len(g.nodes[w.name].Status().Members); n != 3 {
		t.Errorf("%d members", n)
	}
	w.fill(1, 41, 5)
	c := g.cfg[away]
	c.Log = zerolog.New(lines(func(s string) {
		select {
		case own <- s:
		default:
		}
	}))
	g.cfg[away] = c
	g.start(away)
	waitFor(t, said, "no member of the cluster any more")
	waitFor(t, own, "no member of the cluster any more")
	g.until(func() bool { return g.nodes[away].Leader() == "" })
	if err := g.nodes[away].Members().BeginAnew(nil); err != nil {
		t.Fatal(err)
	}
	g.stop(away)
	g.start(away)
	g.until(func() bool { return g.nodes[away].Votes() })
	w.fill(1, 46, 5)
	g.settled(w)
}

// forget makes the leader forget a node that was stopped.
func (g *trio) forget(w *term, name string) (err error) {
	g.until(func() bool {
		err = g.nodes[w.name].Members().Forget(name)
		return !errors.Is(err, cluster.ErrRuns)
	})
	if errors.Is(err, cluster.ErrNotLeading) {
		err = cluster.ErrLost
	}
	return err
}

// TestQuorum_CLU25: a node without which no majority is online is not removed.
func TestQuorum_CLU25(t *testing.T) {
	g := newTrio(t, func(name string, c *cluster.Config) {
		steady(name, c)
		c.OnCommand = func(string) error { return nil }
	})
	w := g.lead()
	w.fill(1, 1, 3)
	list := others(w.name)
	g.settled(w)
	g.stop(list[0])
	g.until(func() bool {
		for _, m := range g.nodes[w.name].Status().Members {
			if m.Name == list[0] {
				return !m.Online
			}
		}
		return false
	})
	if err := g.nodes[w.name].Members().Reset(list[1]); !errors.Is(err, cluster.ErrQuorum) {
		t.Errorf("got %v", err)
	}
	if err := g.nodes[w.name].Members().Reset(w.name); !errors.Is(err, cluster.ErrLeads) {
		t.Errorf("the leader: %v", err)
	}
	w.fill(1, 4, 3)
}

// TestReset_CLU25: a node that is reset is removed, empties its folder, and joins under another identity.
func TestReset_CLU25(t *testing.T) {
	asked := make(chan string, 10)
	g := newTrio(t, func(name string, c *cluster.Config) {
		steady(name, c)
		c.OnCommand = func(command string) error {
			asked <- name + " " + command
			return nil
		}
	})
	w := g.lead()
	w.fill(1, 1, 3)
	g.settled(w)
	name := w.follower()
	before := g.nodes[name].Identity()
	w.sure(func() error {
		if err := g.nodes[w.name].Members().Reset(name); !errors.Is(err, cluster.ErrNotLeading) {
			return err
		}
		return cluster.ErrLost
	})
	for _, command := range []string{cluster.MayReset, cluster.Reset} {
		if got := <-asked; got != name+" "+command {
			t.Errorf("asked %s", got)
		}
	}
	if err := g.nodes[name].Members().BeginAnew(nil); err != nil {
		t.Fatal(err)
	}
	g.stop(name)
	g.start(name)
	if g.nodes[name].Identity() == before {
		t.Error("it has the same identity")
	}
	g.until(func() bool { return g.nodes[name].Votes() })
	w.fill(1, 4, 3)
	g.settled(w)
}

// TestSameName_CLU25: a node with the name of one that runs does not replace it.
func TestSameName_CLU25(t *testing.T) {
	g := newTrio(t, nil)
	w := g.lead()
	w.fill(1, 1, 3)
	g.settled(w)
	said := make(chan string, 1000)
	c := g.fourth(said)
	c.Name = w.follower()
	c.Members = map[string]string{c.Name: testkit.FreeAddress(t), w.name: g.cfg[w.name].Members[w.name]}
	n, err := cluster.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, said, "another node with the name "+c.Name+" runs")
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	w.fill(1, 4, 3)
}

// TestOtherNode_CLU25: a command that is meant for another node, at whose address this one is now, is refused; so is a caller that does not say where it is, as a
// new member.
func TestOtherNode_CLU25(t *testing.T) {
	asked := make(chan string, 10)
	g := newTrio(t, func(name string, c *cluster.Config) {
		c.OnCommand = func(command string) error {
			asked <- command
			return nil
		}
	})
	w := g.lead()
	g.agree()
	hello := func(h wire.Hello) error {
		wall := time.Now().UnixNano()
		h.From, h.Oldest, h.Newest, h.Wall = "n9/1", wire.Newest, wire.Newest, wall
		c := g.cfg[w.name]
		_, err := wire.Ask(c.Members[w.name], h, wire.Config{Secret: c.Secret})
		return err
	}
	for _, command := range []string{cluster.Drain, cluster.Revive, cluster.MayReset, cluster.Reset} {
		if err := hello(wire.Hello{Kind: command, To: "n2/another"}); !errors.Is(err, wire.ErrRefused) {
			t.Errorf("%s: %v", command, err)
		}
		if err := hello(wire.Hello{Kind: command, To: g.nodes[w.name].Identity()}); err != nil || <-asked != command {
			t.Errorf("%s: %v", command, err)
		}
	}
	if len(asked) > 0 {
		t.Error("more was carried out")
	}
	if err := hello(wire.Hello{Kind: wire.KindJoin}); err != nil {
		t.Error(err)
	}
	w.fill(1, 1, 3)
	g.settled(w)
	for _, m := range g.nodes[w.name].Status().Members {
		if m.Name == "n9" {
			t.Error("it is a member")
		}
	}
}

// TestJoinByCommand_CLU26: a node that has a cluster of its own joins another one, if it has no queues, and has then what that one has.
func TestJoinByCommand_CLU26(t *testing.T) {
	g := newTrio(t, nil)
	w := g.lead()
	w.fill(1, 1, 3)
	c := g.fourth(make(chan string))
	delete(c.Members, "n2")
	g.cfg["n4"] = c
	g.start("n4")
	seed := g.cfg["n2"].Members["n2"]
	alone := g.lead()
	alone.define(definitions.Change{Put: []any{auth.VHost{Name: "/"}}})
	alone.define(definitions.Change{Put: []any{definitions.Queue{VHost: "/", Name: "q", Incarnation: 1}}})
	if err := g.nodes["n4"].Members().Join(seed); !errors.Is(err, cluster.ErrData) {
		t.Errorf("with a queue: %v", err)
	}
	alone.define(definitions.Change{Delete: []any{definitions.Queue{VHost: "/", Name: "q"}}})
	if err := g.nodes["n4"].Members().Join(testkit.FreeAddress(t)); err == nil {
		t.Error("nobody is there")
	}
	if err := g.nodes["n2"].Members().Join(c.Members["n4"]); !errors.Is(err, cluster.ErrMember) {
		t.Errorf("a member: %v", err)
	}
	if err := g.nodes["n4"].Members().Join(seed); err != nil {
		t.Fatal(err)
	}
	g.stop("n4")
	g.start("n4")
	g.until(func() bool { return g.nodes["n4"].Votes() })
	w.fill(1, 4, 3)
	g.settled(w)
}

// TestJoinRefused_CLU26: a node that the other cluster would refuse keeps what it has.
func TestJoinRefused_CLU26(t *testing.T) {
	g := newTrio(t, nil)
	w := g.lead()
	for _, name := range []string{w.name, w.follower()} { // whose names are taken
		c := g.fourth(make(chan string))
		c.Dir, c.Name = t.TempDir(), name
		c.Members = map[string]string{name: testkit.FreeAddress(t)}
		n, err := cluster.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		<-n.Leads()
		before := n.Identity()
		for _, at := range []string{"n1", "n2", "n3"} {
			if err := n.Members().Join(g.cfg[at].Members[at]); !errors.Is(err, wire.ErrRefused) {
				t.Errorf("%s joins at %s: %v", name, at, err)
			}
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if n, err = cluster.Open(c); err != nil {
			t.Fatal(err)
		}
		if n.Identity() != before {
			t.Error("it has begun anew")
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}
