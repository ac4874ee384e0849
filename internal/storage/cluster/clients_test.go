package cluster_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/wire"
)

// served admits and takes the clients of other nodes.
type served struct {
	refuse error
	took   chan wire.Client
}

func (s *served) Admits(wire.Client) error { return s.refuse }

func (s *served) Take(conn net.Conn, c wire.Client) {
	s.took <- c
	_, _ = io.Copy(conn, conn)
	_ = conn.Close()
}

// TestClients_CLU20: nodes learn who leads. Only the leader takes clients, and only for its term; a follower passes none on.
func TestClients_CLU20(t *testing.T) {
	leaders, clients := map[string]chan cluster.Leader{}, &served{took: make(chan wire.Client, 1)}
	g := newTrio(t, func(name string, c *cluster.Config) {
		heard := make(chan cluster.Leader, 100)
		leaders[name], c.Clients = heard, clients
		steady(name, c)
		c.OnLeader = func(l cluster.Leader) { heard <- l }
	})
	w := g.lead()
	var l cluster.Leader
	follower := others(w.name)[0]
	for l.Name() != w.name {
		select {
		case l = <-leaders[follower]:
		case <-time.After(patience):
			t.Fatal("no leader was reported")
		}
	}
	c := wire.Client{Listener: "amqp", Remote: "192.0.2.7:1234", Local: "192.0.2.1:5672"}
	conn, err := g.nodes[follower].DialLeader(l, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-clients.took; got.Remote != c.Remote || got.Term != l.Term {
		t.Errorf("took %+v", got)
	}
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Error(err)
	}
	_ = conn.Close()
	other := l
	other.Term--
	if _, err := g.nodes[follower].DialLeader(other, c); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("in another term: %v", err)
	}
	var own cluster.Leader
	for own.Name() != w.name {
		own = <-leaders[w.name]
	}
	if own != l {
		t.Errorf("the leader says %+v, the follower %+v", own, l)
	}
	for _, name := range []string{"n1", "n2", "n3"} { // a follower refuses: nothing is passed on twice
		if name != w.name && name != follower {
			third := cluster.Leader{Identity: g.nodes[name].Identity(), Term: l.Term}
			if _, err := g.nodes[follower].DialLeader(third, c); !errors.Is(err, wire.ErrRefused) {
				t.Errorf("by a follower: %v", err)
			}
		}
	}
	clients.refuse = errors.New("no")
	if _, err := g.nodes[follower].DialLeader(l, c); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("a leader without a broker: %v", err)
	}
}
