package nodeid

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/raft"
)

// versionKey begins the part of a place with its version.
const versionKey = "version="

// A Place is where a member is: the address of a server in raft's configuration (CLU-24). A server of an older version has only the identity; the
// settings have its address.
type Place struct {
	Identity string
	Address  string   // of its port for other nodes, host:port; "" if unknown
	Version  int      // the newest one that its program knows; 0 if unknown
	Clients  []string // its addresses for clients, each kind=host:port
}

// String returns the address for raft: the parts, with spaces between them.
func (p Place) String() string {
	if p.Address == "" {
		return p.Identity
	}
	return strings.Join(append([]string{p.Identity, p.Address, versionKey + strconv.Itoa(p.Version)}, p.Clients...), " ")
}

// Complete gives addresses for clients without a host the host of the node.
func (p Place) Complete() Place {
	host, _, err := net.SplitHostPort(p.Address)
	if err != nil {
		return p
	}
	p.Clients = slices.Clone(p.Clients)
	for i, c := range p.Clients {
		if kind, port, ok := strings.Cut(c, "=:"); ok {
			p.Clients[i] = kind + "=" + net.JoinHostPort(host, port)
		}
	}
	return p
}

// PlaceOf undoes String.
func PlaceOf(address string) (p Place) {
	parts := strings.Fields(address)
	if len(parts) > 0 {
		p.Identity = parts[0]
	}
	if len(parts) > 1 {
		p.Address, p.Clients = parts[1], parts[2:]
	}
	if len(p.Clients) > 0 && strings.HasPrefix(p.Clients[0], versionKey) {
		p.Version, _ = strconv.Atoi(p.Clients[0][len(versionKey):])
		p.Clients = p.Clients[1:]
	}
	return p
}

// Said is a place without the identity, as a Hello has it.
func (p Place) Said() string {
	_, after, _ := strings.Cut(p.String(), " ")
	return after
}

// Configuration returns the first configuration of a cluster: all of its members vote.
func Configuration(places []string) (c raft.Configuration) {
	for _, p := range places {
		c.Servers = append(c.Servers, raft.Server{ID: raft.ServerID(PlaceOf(p).Identity), Address: raft.ServerAddress(p)})
	}
	return c
}

// Identities returns the identity of each place that has one.
func Identities(places []string) (list []string) {
	for _, p := range places {
		if id := PlaceOf(p).Identity; id != "" {
			list = append(list, id)
		}
	}
	return list
}
