package cluster

import (
	"errors"
	"fmt"
	"path/filepath"

	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/cluster/wire"

	"github.com/hashicorp/raft"
)

// Refusals of changes of the members (CLU-25, CLU-26).
var (
	ErrNotLeading = errors.New("this node does not lead the cluster")
	ErrRuns       = errors.New("the node runs: stop it before it is removed from the cluster")
	ErrQuorum     = errors.New("without this node no majority of the voters would be online")
	ErrLeads      = errors.New("the node leads the cluster: transfer the leadership first")
	ErrMember     = errors.New("this node is one of several members of a cluster: reset it first")
	ErrData       = errors.New("this node has queues, which would be lost: delete them first")
)

// Forget removes a member that does not run: it is no member under its present life any more. Errors: ErrRuns, ErrQuorum, ErrNotLeading,
// wire.ErrRefused if there is no such member, or raft's.
func (m *Membership) Forget(name string) error {
	for _, o := range m.node.Status().Members {
		if o.Name == name && o.Online {
			return ErrRuns
		}
	}
	return m.remove(name)
}

// Reset removes a member that was drained, and makes it forget the cluster and its data. Errors: ErrQuorum, ErrNotLeading, ErrLeads, or the
// node refuses.
func (m *Membership) Reset(name string) error {
	n := m.node
	identity, address := m.named(name) // it has none after the removal
	if err := n.Command(name, MayReset); err != nil {
		return err
	}
	if len(m.servers()) > 1 {
		if name == n.cfg.Name {
			return ErrLeads
		}
		if err := m.remove(name); err != nil {
			return err
		}
	}
	return n.command(identity, address, Reset)
}

// remove removes a member.
func (m *Membership) remove(name string) error {
	n := m.node
	if n.raft.State() != raft.Leader {
		return ErrNotLeading
	}
	found := false
	for _, s := range m.servers() {
		if nodeid.NameOf(string(s.ID)) != name {
			continue
		}
		if found = true; !m.spares(s) {
			return ErrQuorum
		}
		n.cfg.Log.Warn().Str("node", string(s.ID)).Msg("a member is removed from the cluster")
		if err := n.raft.RemoveServer(s.ID, 0, n.cfg.Timeout*10).Error(); err != nil {
			return err
		}
	}
	if !found {
		return wire.ErrRefused
	}
	return nil
}

// spares reports whether a majority of the voters is online without a member.
func (m *Membership) spares(without raft.Server) bool {
	voters, online := 0, 0
	for _, s := range m.servers() {
		if s.Suffrage != raft.Voter || s.ID == without.ID {
			continue
		}
		if voters++; string(s.ID) == m.node.self.Identity() || m.node.witness.hears(string(s.ID)) {
			online++
		}
	}
	return without.Suffrage != raft.Voter || online > voters/2
}

// Join makes this node, the only one of its cluster and without queues, forget all it has, and ask the node at an address for membership. It takes effect at the
// next start, which should be at once. Errors: ErrMember, ErrData, there is no other cluster with a leader at the address, or it refuses this node.
func (m *Membership) Join(address string) error {
	n := m.node
	if len(m.servers()) != 1 {
		return ErrMember
	}
	a, err := n.port.Ask(address, wire.KindAsk)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", address, err)
	case a.Cluster == "":
		return fmt.Errorf("%s is a member of no cluster", nodeid.NameOf(a.Node))
	case a.Leader == "":
		return fmt.Errorf("the cluster of %s has no leader at the moment", nodeid.NameOf(a.Node))
	}
	if err := n.port.MayJoin(a.Leader); err != nil {
		return fmt.Errorf("%s: %w", a.Leader, err)
	}
	d, err := n.copies.Data().Definitions.Load()
	if err != nil {
		return err
	}
	if len(d.Queues) > 0 {
		return ErrData
	}
	return m.BeginAnew([]string{address})
}

// BeginAnew makes this node begin with an empty folder at its next start, which should be at once. It then asks the nodes at the addresses for membership, or, if
// there are none, the nodes of its settings, and it has another life. The cluster must have removed it.
func (m *Membership) BeginAnew(seeds []string) error {
	n := m.node
	next := nodeid.New(n.cfg.Name)
	next.Seeds = seeds
	return nodeid.Renew(n.cfg.FS, filepath.Join(n.cfg.Dir, raftlog.Folder), next)
}
