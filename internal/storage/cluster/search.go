package cluster

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"candlemark/internal/storage/cluster/nodeid"

	"github.com/hashicorp/raft"
)

// place returns where this node says it is, under an identity; without an address if that is not known yet.
func (m *Membership) place(identity string) nodeid.Place {
	n := m.node
	return nodeid.Place{Identity: identity, Address: cmp.Or(n.cfg.Members[n.cfg.Name], m.search.Found().Own), Version: n.cfg.Newest, Clients: n.cfg.ClientAddresses}.Complete()
}

// find asks the Finder. It returns why this node can form no cluster.
func (m *Membership) find() (problems []string) {
	if err := m.search.Find(m.node.ended); err != nil {
		problems = append(problems, err.Error())
	}
	if m.place("").Address == "" {
		problems = append(problems, "this node is not among the nodes that were found")
	}
	return problems
}

// roster lists the nodes that all nodes must have in common when they form a cluster: the members of the settings, or the result of the Finder.
func (m *Membership) roster() string {
	if m.search.On() {
		return m.search.Roster()
	}
	return nodeid.Roster(m.node.cfg.Members)
}

// promised makes all nodes that were found members of the cluster that this node is about to form, before it is one: nodes that have found different nodes cannot form two
// clusters. It returns false if this node ends.
func (m *Membership) promised(members []string) bool {
	n := m.node
	wanted := map[string]bool{}
	for _, place := range members {
		wanted[place] = m.search.On() && nodeid.PlaceOf(place).Identity != n.self.Identity()
	}
	maps.DeleteFunc(wanted, func(_ string, is bool) bool { return !is })
	for last := ""; len(wanted) > 0; {
		problem := ""
		for _, place := range slices.Sorted(maps.Keys(wanted)) {
			conn, err := n.port.Dial(raft.ServerAddress(place), n.cfg.Timeout)
			if err != nil {
				problem = err.Error()
				continue
			}
			_ = conn.Close()
			delete(wanted, place)
		}
		if problem != "" && problem != last {
			n.cfg.Log.Warn().Str("reason", problem).Msg("a node does not join the cluster that this one forms")
		}
		if last = problem; problem != "" && !n.pause(min(n.cfg.Timeout/4, surveyPause)) {
			return false
		}
	}
	return true
}

// await returns whom a broker alone asks: it waits until enough nodes are found, but not longer than d.
func (m *Membership) await(d time.Duration) []seed {
	for limit := time.Now().Add(d); ; {
		problems := m.find()
		enough := len(problems) == 0 && (!m.search.On() || len(m.search.Found().Others)+1 >= m.search.Size)
		if enough || time.Now().After(limit) || !m.node.pause(surveyPause) {
			return m.seeds()
		}
	}
}
