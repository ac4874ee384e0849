package cluster

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"candlemark/internal/storage/cluster/copies"
	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/wire"

	"github.com/hashicorp/raft"
)

// Status has the knowledge of a node about its cluster.
type Status struct {
	Cluster   string // id; "" while it is not formed
	Leader    string // name; "" if none is known
	Term      uint64
	Committed uint64 // the last entry that is stored on a majority
	Members   []Member
	Level     int               // the version of protocol and records that all members know (CLU-35)
	Slow      string            // why another node is about to lead, if this one's disk is slow (CLU-37)
	Elections []nodeid.Election // the last nodeid.MaxElections that this process knows of, the latest last
	Copies    copies.Sending
}

// Member is a node of the cluster, by the members that raft knows, or, before the cluster is formed, by the settings.
type Member struct {
	Name, Address string
	Clients       []string // its addresses for clients, each kind=host:port
	Voter         bool     // it counts in elections and for commits; a new one does not until it has the data
	Leads, Self   bool
	// Online: it is this node, or was heard a short time ago. Nodes hear the leader, and the leader hears all.
	Online bool
	Last   uint64          // the last entry of its log, as far as this node knows
	Lag    uint64          // entries that the leader's log has behind it
	Heard  time.Duration   // since it was heard; negative if never
	Ahead  time.Duration   // how far its wall clock is ahead of this node's; 0 if that is not known
	Report json.RawMessage // what it says of itself; nil without news of the last 20 s, or if this node does not lead
}

// online is how long a node that is not heard counts as being there; heartbeats come every 80 to 160 ms.
const online = 2 * time.Second

// Status describes the cluster. It asks nobody.
func (n *Node) Status() Status {
	s := Status{Cluster: n.self.Cluster(), Leader: n.Leader(), Term: n.raft.CurrentTerm(), Committed: n.raft.CommitIndex(), Elections: n.elected.All(), Level: n.members.level(), Slow: n.office.Why(), Copies: n.copies.Sending()}
	servers := n.members.servers()
	if len(servers) == 0 {
		for name := range n.cfg.Members {
			servers = append(servers, raft.Server{ID: raft.ServerID(nodeid.Of(name, "")), Suffrage: raft.Voter})
		}
	}
	apart, own := n.timing.apart(), n.last().Index
	n.witness.mu.Lock()
	now := time.Now()
	for _, server := range servers {
		id := string(server.ID)
		m := Member{Name: nodeid.NameOf(id), Voter: server.Suffrage == raft.Voter, Heard: -1, Last: n.witness.seen[id].Index, Ahead: apart[nodeid.NameOf(id)], Report: n.reports.of(id)}
		p := nodeid.PlaceOf(string(server.Address))
		m.Address, m.Clients = cmp.Or(p.Address, n.cfg.Members[m.Name]), p.Clients
		m.Self, m.Leads = m.Name == n.cfg.Name, m.Name == s.Leader
		if at, heard := n.witness.at[id]; heard {
			m.Heard = now.Sub(at)
			m.Online = m.Heard < online
		}
		if m.Self {
			m.Online, m.Heard, m.Last = true, 0, own
		}
		s.Members = append(s.Members, m)
	}
	n.witness.mu.Unlock()
	slices.SortFunc(s.Members, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	last := own
	for _, m := range s.Members {
		if m.Leads {
			last = max(m.Last, s.Committed)
		}
	}
	for i := range s.Members {
		s.Members[i].Lag = last - min(last, s.Members[i].Last)
	}
	return s
}

// Commands to a node, of a node with the same secret.
const (
	Drain  = "drain"  // it hands over, takes no new clients, and does not lead while others can
	Revive = "revive" // it goes on after that
	// MayReset asks whether the node is drained, so that it may be reset; Reset makes it begin with an empty folder.
	MayReset = "may-reset"
	Reset    = "reset"
)

// Command gives a command to a member, which may be this node. Errors: there is no such member, or it did not answer.
func (n *Node) Command(name, command string) error {
	if name == n.cfg.Name {
		return n.cfg.obey(command)
	}
	identity, address := n.members.named(name)
	return n.command(identity, address, command)
}

func (n *Node) command(identity, address, command string) error {
	if identity == n.self.Identity() {
		return n.cfg.obey(command)
	}
	if address == "" {
		return wire.ErrRefused
	}
	return n.port.Command(identity, address, command)
}

// obey carries out a command.
func (c *Config) obey(command string) error {
	if c.OnCommand == nil {
		return wire.ErrRefused
	}
	return c.OnCommand(command)
}
