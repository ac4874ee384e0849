package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/wire"

	"github.com/hashicorp/raft"
)

// Membership is a node's knowledge of the members, and its way to become one.
type Membership struct {
	node    *Node
	mu      sync.Mutex
	joining map[string]bool // identities that are about to become members
}

// A place is where a member is: the address of a server in raft's configuration (CLU-24). A server of an older version has only the identity; the
// settings have its address.
type place struct {
	identity string
	address  string   // of its port for other nodes, host:port; "" if unknown
	version  int      // the newest one that its program knows; 0 if unknown
	clients  []string // its addresses for clients, each kind=host:port
}

// String returns the address for raft: the parts, with spaces between them.
func (p place) String() string {
	if p.address == "" {
		return p.identity
	}
	return strings.Join(append([]string{p.identity, p.address, versionKey + strconv.Itoa(p.version)}, p.clients...), " ")
}

func placeOf(address string) (p place) {
	parts := strings.Fields(address)
	if len(parts) > 0 {
		p.identity = parts[0]
	}
	if len(parts) > 1 {
		p.address, p.clients = parts[1], parts[2:]
	}
	if len(p.clients) > 0 && strings.HasPrefix(p.clients[0], versionKey) {
		p.version, _ = strconv.Atoi(p.clients[0][len(versionKey):])
		p.clients = p.clients[1:]
	}
	return p
}

// versionKey begins the part of a place with its version.
const versionKey = "version="

// level returns the version that all members know, by the log: nothing newer may be written into it, and no older program may take part (CLU-35). It
// grows when the last member has told its new version, and never falls: who is older is refused.
func (m *Membership) level() int {
	lowest := 0
	for i, s := range m.servers() {
		v := max(placeOf(string(s.Address)).version, 1)
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
func (m *Membership) own() place {
	n := m.node
	return place{n.self.Identity(), n.cfg.Members[n.cfg.Name], n.cfg.Newest, n.cfg.ClientAddresses}
}

// caller returns where a caller says it is. A node with an older version does not say it.
func caller(h wire.Hello) place {
	p := placeOf(h.From + " " + h.Place)
	p.identity = h.From
	return p
}

// said is a place without the identity, as a Hello has it.
func (p place) said() string {
	_, after, _ := strings.Cut(p.String(), " ")
	return after
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
	p := placeOf(of)
	if s, is := m.member(p.identity); is && p.address == "" {
		p = placeOf(string(s.Address))
	}
	for _, address := range []string{p.address, m.node.cfg.Members[nodeid.NameOf(p.identity)]} {
		if address != "" && !slices.Contains(list, address) {
			list = append(list, address)
		}
	}
	return list
}

// addressOf returns the address of the member with a name; "" if there is none.
func (m *Membership) addressOf(name string) string {
	for _, s := range m.servers() {
		if nodeid.NameOf(string(s.ID)) == name {
			return cmp.Or(append(m.addresses(string(s.Address)), "")...)
		}
	}
	return ""
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
		p := placeOf(string(s.Address))
		if p.address != "" || p.identity == m.node.self.Identity() {
			continue
		}
		known := false
		for _, address := range m.addresses(p.identity) {
			a, err := m.node.port.Ask(address, wire.KindAsk)
			known = known || err == nil && a.Version >= wire.Places
		}
		if !known {
			return nodeid.NameOf(p.identity)
		}
	}
	return ""
}

// seed is a node to be asked for a cluster.
type seed struct{ name, address string }

// seeds returns whom a node without a cluster asks; a seed of Join has no name.
func (m *Membership) seeds() (list []seed) {
	n := m.node
	if found := n.self.Seeds; len(found) > 0 {
		for _, address := range found {
			list = append(list, seed{"", address})
		}
		return list
	}
	for _, name := range slices.Sorted(maps.Keys(n.cfg.Members)) {
		if name != n.cfg.Name {
			list = append(list, seed{name, n.cfg.Members[name]})
		}
	}
	return list
}
