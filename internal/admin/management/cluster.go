package management

import (
	"encoding/json"
	"errors"
	"time"
)

// Cluster is the part of the broker that knows the nodes with the same data.
type Cluster interface {
	// ClusterState describes the cluster as the node knows it whose broker this is, the leader. The zero value stands for a broker alone.
	ClusterState() ClusterState
	// TransferLeadership makes another node lead, "" for any of them. This broker ends by that, so the call returns at once, and a
	// transfer that fails is logged. Errors: ErrNoMember, ErrAlone, or that node, or each other one, cannot lead.
	TransferLeadership(to string) error
	// Drain makes a node hand over, take no clients and not lead until Revive. Draining the node itself works as TransferLeadership.
	// Errors: ErrNoMember, ErrAlone, or the node did not answer.
	Drain(node string) error
	// Revive undoes Drain.
	Revive(node string) error
	// Forget removes a node that does not run from the cluster (CLU-25). Errors: ErrNoMember, ErrAlone, or why it is refused.
	Forget(node string) error
	// Reset removes a node that was drained from the cluster, and makes it begin anew with an empty folder. Errors as of Forget.
	Reset(node string) error
	// Join makes the broker, which is the only node of its cluster, join the one of another node, and drop what it has (CLU-26). It ends by that. Errors:
	// ErrAlone, or why it is refused.
	Join(node string) error
}

// Errors of Cluster.
var (
	ErrAlone    = errors.New("the broker is not a node of a cluster")
	ErrNoMember = errors.New("there is no such node in the cluster")
)

// ClusterState describes a cluster.
type ClusterState struct {
	ID        string
	Node      string // this one
	Leader    string // "" if none is known
	Term      uint64
	Committed uint64 // the last entry of the log that a majority has stored
	Members   []Member
	Level     int        // the version of the nodes' protocol and records that all members know
	Slow      string     // why another node is about to lead: the disk of this one is slow; else ""
	Elections []Election // the last ones that the node knows of, the latest last
	Copies    Copies
}

// Copies are the copies of its data that a node sends to others. Figures count since its start.
type Copies struct {
	Now          int    // how many
	Sent, Spared uint64 // bytes that were sent, and that the other nodes had already
}

// Election is the begin of a leader's office.
type Election struct {
	Term   uint64
	Leader string
	At     int64 // ms since 1970, by this node's clock
}

// Previous returns the name of the leader before the present one; "" if the node knows none.
func (c *ClusterState) Previous() string {
	for i := len(c.Elections) - 1; i >= 0; i-- {
		if e := c.Elections[i]; e.Term < c.Term {
			return e.Leader
		}
	}
	return ""
}

// Member is a node of a cluster.
type Member struct {
	Name, Address string
	Clients       []string // its addresses for clients, each kind=host:port
	Voter         bool     // false for a new one that has not got all data
	Leader        bool
	Online        bool
	Last, Lag     uint64        // the last entry of its log, and how many entries behind the leader that is
	Heard         time.Duration // since it was heard for the last time; negative if never
	Ahead         time.Duration // of its wall clock before this node's
	Report        *Report       // nil if it does not lead and has not said anything lately
}

// Report describes the process of a node, for the leader.
type Report struct {
	Machine
	Version string // of the product
	PID     int
	Drained bool
	// Refrains: the broker could not start there a short time ago.
	Refrains bool
}

// MayLead says by the Report of a node, in JSON, whether it takes over from a leader (CLU-22).
func MayLead(report json.RawMessage) bool {
	var r Report
	return json.Unmarshal(report, &r) != nil || !r.Drained && !r.Refrains
}

// Names returns the names of all members, or of those that are online.
func (c *ClusterState) Names(online bool) (names []string) {
	for _, m := range c.Members {
		if m.Online || !online {
			names = append(names, m.Name)
		}
	}
	return names
}

// Spare returns how many more voters may go offline until there is no majority of them; negative if there is none now.
func (c *ClusterState) Spare() int {
	voters, online := 0, 0
	for _, m := range c.Members {
		if m.Voter {
			voters++
			if m.Online {
				online++
			}
		}
	}
	return online - (voters/2 + 1)
}

// Alone is the Cluster of a broker alone.
type Alone struct{}

// ClusterState implements Cluster.
func (Alone) ClusterState() ClusterState { return ClusterState{} }

// TransferLeadership implements Cluster.
func (Alone) TransferLeadership(string) error { return ErrAlone }

// Drain implements Cluster.
func (Alone) Drain(string) error { return ErrAlone }

// Revive implements Cluster.
func (Alone) Revive(string) error { return ErrAlone }

// Forget implements Cluster.
func (Alone) Forget(string) error { return ErrAlone }

// Reset implements Cluster.
func (Alone) Reset(string) error { return ErrAlone }

// Join implements Cluster.
func (Alone) Join(string) error { return ErrAlone }
