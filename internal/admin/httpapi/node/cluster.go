package node

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// clusterItem is the JSON form of a cluster, as its leader knows it.
type clusterItem struct {
	ID        string       `json:"id"`
	Node      string       `json:"node"`
	Leader    string       `json:"leader"`
	Term      uint64       `json:"term"`
	Committed uint64       `json:"committed"`
	Members   []memberItem `json:"members"`
	Level     int          `json:"level"`
	Elections []election   `json:"elections"`
}

// election is the JSON form of the begin of a leader's office.
type election struct {
	Term   uint64 `json:"term"`
	Leader string `json:"leader"`
	At     int64  `json:"timestamp_in_ms"`
}

// memberItem is the JSON form of a node of a cluster.
type memberItem struct {
	Name    string   `json:"name"`
	Address string   `json:"address"`
	Clients []string `json:"client_addresses"` // each kind=host:port
	Role    string   `json:"role"`             // leader, follower, or learner: a new node that has not got all data
	Online  bool     `json:"online"`
	Match   uint64   `json:"match"`
	Lag     uint64   `json:"lag"`
	Heard   *float64 `json:"last_contact_ms"`
	Ahead   float64  `json:"clock_offset_ms"`
}

// cluster describes the cluster. A broker alone has no members.
func cluster(r *rest.Request) (any, error) {
	c := r.Broker.ClusterState()
	item := clusterItem{ID: c.ID, Node: r.Node, Leader: c.Leader, Term: c.Term, Committed: c.Committed, Level: c.Level, Members: []memberItem{}, Elections: []election{}}
	for _, m := range c.Members {
		one := memberItem{Name: m.Name, Address: m.Address, Clients: append([]string{}, m.Clients...), Role: roleOf(&m), Online: m.Online, Match: m.Last, Lag: m.Lag, Ahead: milliseconds(m.Ahead)}
		if m.Heard >= 0 {
			heard := milliseconds(m.Heard)
			one.Heard = &heard
		}
		item.Members = append(item.Members, one)
	}
	for _, e := range c.Elections {
		item.Elections = append(item.Elections, election(e))
	}
	return item, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func roleOf(m *management.Member) string {
	switch {
	case m.Leader:
		return "leader"
	case m.Voter:
		return "follower"
	}
	return "learner"
}

// notCritical checks that there is a majority without the node (CLU-22).
func notCritical(r *rest.Request) (any, error) {
	c := r.Broker.ClusterState()
	switch {
	case len(c.Members) == 0:
		return health{Status: "ok", Reason: "single node cluster"}, nil
	case c.Spare() < 1:
		return unhealthy(health{Reason: "There are no more nodes online than a majority needs"}), nil
	}
	return healthy, nil
}

// clocksAgree checks that no wall clock of the cluster is more than a second away from this node's (CLU-10). Only a leader knows all of them.
func clocksAgree(r *rest.Request) (any, error) {
	var wrong []string
	for _, m := range r.Broker.ClusterState().Members {
		if m.Ahead.Abs() > time.Second {
			wrong = append(wrong, fmt.Sprintf("%s by %v", m.Name, m.Ahead.Round(time.Millisecond)))
		}
	}
	if len(wrong) > 0 {
		return unhealthy(health{Reason: "Clocks are ahead of that of " + r.Node + ": " + strings.Join(wrong, ", ")}), nil
	}
	return healthy, nil
}

// transferLeadership takes {"node": "rabbit@n2"}, or {} for any node.
func transferLeadership(r *rest.Request) (any, error) {
	b := r.JSON()
	to := ""
	if b.Has("node") {
		to = b.Text("node")
	}
	if b.Err != nil {
		return nil, b.Err
	}
	return afterwards(r, "cluster.leadership.transfer.requested", to, r.Broker.TransferLeadership)
}

func drain(r *rest.Request) (any, error) {
	return afterwards(r, "cluster.node.drained", r.Name, r.Broker.Drain)
}

func revive(r *rest.Request) (any, error) {
	return afterwards(r, "cluster.node.revived", r.Name, r.Broker.Revive)
}

func forget(r *rest.Request) (any, error) {
	return changed(r, "cluster.node.forgotten", r.Broker.Forget)
}

func reset(r *rest.Request) (any, error) { return changed(r, "cluster.node.reset", r.Broker.Reset) }

// changed removes a node of the cluster, and records it.
func changed(r *rest.Request, event string, act func(string) error) (any, error) {
	if err := known(r, r.Name); err != nil {
		return nil, err
	}
	if err := act(r.Name); err != nil {
		return nil, rest.Complaint(r.Name + ": " + err.Error())
	}
	r.Record(event, "", protocol.Table{{Key: "node", Value: r.Name}}, nil)
	return nil, nil
}

// join takes {"node": "rabbit@n1"}, or with the address of its port for nodes in place of the name.
func join(r *rest.Request) (any, error) {
	b := r.JSON()
	to := b.Text("node")
	if b.Err != nil {
		return nil, b.Err
	}
	if err := r.Broker.Join(to); err != nil {
		return nil, rest.Complaint(err.Error())
	}
	r.Record("cluster.joined", "", protocol.Table{{Key: "node", Value: to}}, nil)
	return nil, nil
}

// known returns an error unless there is a cluster with a node, or the node is "".
func known(r *rest.Request, node string) error {
	c := r.Broker.ClusterState()
	switch {
	case len(c.Members) == 0:
		return rest.Complaint(management.ErrAlone.Error())
	case node != "" && !slices.Contains(c.Names(false), node):
		return rest.ErrNotFound
	}
	return nil
}

// afterwards acts on a node, and records that first, since the broker may end.
func afterwards(r *rest.Request, event, node string, act func(string) error) (any, error) {
	if err := known(r, node); err != nil {
		return nil, err
	}
	r.Record(event, "", protocol.Table{{Key: "node", Value: node}}, nil)
	err := act(node)
	if errors.Is(err, management.ErrAlone) || errors.Is(err, management.ErrNoMember) {
		return nil, rest.Complaint(err.Error())
	}
	if err != nil {
		return nil, rest.Refuse(http.StatusServiceUnavailable, "not_done", err.Error())
	}
	return nil, nil
}
