package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"candlemark/internal/storage/cluster/discovery"
	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/wire"

	"github.com/hashicorp/raft"
)

// Membership is a node's knowledge of the members, and its way to become one.
type Membership struct {
	node    *Node
	mu      sync.Mutex
	joining map[string]bool // identities that are about to become members
	search  discovery.Search
}

// level returns the version that all members know, by the log: nothing newer may be written into it, and no older program may take part (CLU-35). It
// grows when the last member has told its new version, and never falls: who is older is refused.
func (m *Membership) level() int {
	lowest := 0
	for i, s := range m.servers() {
		v := max(nodeid.PlaceOf(string(s.Address)).Version, 1)
		if i == 0 || v < lowest {
			lowest = v
		}
	}
	return max(lowest, 1)
}

// tooOld returns an error if the program of this node is older than the level.
func (m *Membership) tooOld() error {
	if level := m.level(); level > m.node.cfg.Newest {
		return fmt.Errorf("all members of the cluster have had version %d of its protocol, and this program knows only version %d: it is too old for this data folder", level, m.node.cfg.Newest)
	}
	return nil
}

// own returns where this node says it is.
func (m *Membership) own() nodeid.Place { return m.place(m.node.self.Identity()) }

// caller returns where a caller says it is. A node with an older version does not say it.
func caller(h wire.Hello) nodeid.Place {
	p := nodeid.PlaceOf(h.From + " " + h.Place)
	p.Identity = h.From
	return p
}

// servers returns all members, as raft knows them.
func (m *Membership) servers() []raft.Server {
	if !m.node.started() {
		return nil
	}
	return m.node.raft.GetConfiguration().Configuration().Servers
}

// member returns what raft knows of an identity.
func (m *Membership) member(identity string) (raft.Server, bool) {
	for _, s := range m.servers() {
		if string(s.ID) == identity {
			return s, true
		}
	}
	return raft.Server{}, false
}

// voters returns the names of the members that vote.
func (m *Membership) voters() (names []string) {
	for _, s := range m.servers() {
		if s.Suffrage == raft.Voter {
			names = append(names, nodeid.NameOf(string(s.ID)))
		}
	}
	return names
}

// addresses returns where a node may be, by its identity or its address in raft's configuration: where the members have it, and, if the settings differ,
// where these have its name. So nodes whose addresses have all changed find each other.
func (m *Membership) addresses(of string) (list []string) {
	p := nodeid.PlaceOf(of)
	if s, is := m.member(p.Identity); is && p.Address == "" {
		p = nodeid.PlaceOf(string(s.Address))
	}
	for _, address := range []string{p.Address, m.node.cfg.Members[nodeid.NameOf(p.Identity)], m.search.Noted(p.Identity)} {
		if address != "" && !slices.Contains(list, address) {
			list = append(list, address)
		}
	}
	return list
}

// named returns identity and address of the member with a name; "" if there is none.
func (m *Membership) named(name string) (identity, address string) {
	for _, s := range m.servers() {
		if nodeid.NameOf(string(s.ID)) == name {
			return string(s.ID), cmp.Or(append(m.addresses(string(s.Address)), "")...)
		}
	}
	return "", ""
}

// placed reports whether the members have this node where it is.
func (m *Membership) placed() bool {
	s, is := m.member(m.node.self.Identity())
	return is && string(s.Address) == m.own().String()
}

// replaced returns why the life of a caller is none of a member: "" if it is one. A node without a leader does not know: its members may be old.
func (m *Membership) replaced(identity string) string {
	leader := m.node.leader()
	if leader == "" || leader == identity {
		return ""
	}
	if _, is := m.member(identity); is {
		return ""
	}
	for _, s := range m.servers() {
		if nodeid.NameOf(string(s.ID)) == nodeid.NameOf(identity) {
			return identity + " was replaced by another node of this name: its folder must be emptied"
		}
	}
	return identity + " is no member of the cluster any more: its folder must be emptied before it can join again"
}

// twice returns why a node cannot take the place of a member of its name: that one runs. It is "" if this node does not lead.
func (m *Membership) twice(identity string) string {
	if m.node.raft.State() != raft.Leader {
		return ""
	}
	for _, s := range m.servers() {
		if id := string(s.ID); id != identity && nodeid.NameOf(id) == nodeid.NameOf(identity) && m.node.witness.hears(id) {
			return "another node with the name " + nodeid.NameOf(id) + " runs"
		}
	}
	return ""
}

// rank returns how many voters other than the leader have a lower name than this node, and the number of voters.
func (m *Membership) rank(leader string) (rank, members int) {
	voters := m.voters()
	for _, name := range voters {
		if name < m.node.cfg.Name && name != nodeid.NameOf(leader) {
			rank++
		}
	}
	return rank, len(voters)
}

// outdated returns the name of a member whose version does not know places, "" if there is none. A member that does not answer knows them if it has one.
func (m *Membership) outdated() string {
	for _, s := range m.servers() {
		p := nodeid.PlaceOf(string(s.Address))
		if p.Address != "" || p.Identity == m.node.self.Identity() {
			continue
		}
		known := false
		for _, address := range m.addresses(p.Identity) {
			a, err := m.node.port.Ask(address, wire.KindAsk)
			known = known || err == nil && a.Version >= wire.Places
		}
		if !known {
			return nodeid.NameOf(p.Identity)
		}
	}
	return ""
}

// seed is a node to be asked for a cluster.
type seed struct {
	name, address string
	found         bool // by a Finder
}

// seeds returns whom a node without a cluster asks; a seed of Join and one that was found have no name.
func (m *Membership) seeds() (list []seed) {
	n := m.node
	if n.self != nil {
		for _, address := range n.self.Seeds() {
			list = append(list, seed{address: address})
		}
		if len(list) > 0 {
			return list
		}
	}
	for _, address := range m.search.Found().Others {
		list = append(list, seed{address: address, found: true})
	}
	for _, name := range slices.Sorted(maps.Keys(n.cfg.Members)) {
		if name != n.cfg.Name {
			list = append(list, seed{name: name, address: n.cfg.Members[name]})
		}
	}
	return list
}
