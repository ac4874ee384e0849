package cluster

import (
	"fmt"
	"net"
	"time"

	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/wire"

	"github.com/hashicorp/raft"
)

// Leader is the node that leads, in one term.
type Leader struct {
	Identity string // name and life; "" if no leader is known
	Term     uint64
}

// Name returns the name of the node.
func (l Leader) Name() string { return nodeid.NameOf(l.Identity) }

// Clients serves the clients of other nodes.
type Clients interface {
	// Admits returns why a client cannot be served, nil if it can.
	Admits(c wire.Client) error
	// Take serves a client that was admitted, and closes the connection at the end.
	Take(conn net.Conn, c wire.Client)
}

// dialPatience is how long a connection to the leader may take to be established, for a client.
const dialPatience = 2 * time.Second

// DialLeader opens a connection to the leader that carries the bytes of a client of this node (CLU-20). The leader refuses it unless it
// serves clients in the term that is meant.
func (n *Node) DialLeader(l Leader, c wire.Client) (net.Conn, error) {
	c.Term = l.Term
	return n.port.DialClient(l.Identity, c, dialPatience)
}

// admits decides about a client of another node: only a leader serves it, in the term that the other node means, so that no connection
// is passed on twice.
func (n *Node) admits(c wire.Client) error {
	if n.raft.State() != raft.Leader || n.raft.CurrentTerm() != c.Term {
		return fmt.Errorf("%s does not lead in term %d", n.cfg.Name, c.Term)
	}
	if n.cfg.Clients == nil {
		return fmt.Errorf("%s serves no clients of other nodes", n.cfg.Name)
	}
	return n.cfg.Clients.Admits(c)
}

// Identity returns the name and the life of this node.
func (n *Node) Identity() string { return n.self.Identity() }

// watchLeader reports each new leader.
func (n *Node) watchLeader() {
	changed := make(chan raft.Observation, 1) // one is enough: the state is read after it
	observer := raft.NewObserver(changed, false, func(o *raft.Observation) bool {
		_, is := o.Data.(raft.LeaderObservation)
		return is
	})
	n.raft.RegisterObserver(observer)
	defer n.raft.DeregisterObserver(observer)
	var last Leader
	for {
		now := Leader{Identity: n.leader(), Term: n.raft.CurrentTerm()}
		if now.Identity == "" {
			now = Leader{}
		}
		if now != last {
			n.elected.Add(now.Identity, now.Term)
			if n.cfg.OnLeader != nil {
				n.cfg.OnLeader(now)
			}
		}
		last = now
		select {
		case <-changed:
		case <-n.ended:
			return
		}
	}
}
