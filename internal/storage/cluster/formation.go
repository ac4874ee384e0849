package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"candlemark/internal/storage/cluster/wire"

	"github.com/hashicorp/raft"
)

// hello returns what this node says of itself.
func (n *Node) hello() wire.Hello {
	_, wall := n.timing.read()
	return wire.Hello{Wall: wall, Cluster: n.self.cluster(), Members: roster(n.cfg.Members), From: n.self.identity()}
}

// judge decides about a caller.
func (n *Node) judge(h wire.Hello) wire.Answer {
	a := wire.Answer{Cluster: n.self.cluster(), Node: n.self.identity(), Applied: n.machine.applied()}
	own := roster(n.cfg.Members)
	switch {
	case !n.started():
		a.Error = n.cfg.Name + " is starting"
	case h.Members != own:
		a.Error = fmt.Sprintf("the settings of %s name the members %s, those of %s name %s", n.cfg.Name, own, nameOf(h.From), h.Members)
	case n.cfg.Members[nameOf(h.From)] == "" || nameOf(h.From) == n.cfg.Name:
		a.Error = fmt.Sprintf("%q is not the name of another member", nameOf(h.From))
	case h.Kind == wire.KindLog && n.replaced(h.From):
		a.Error = fmt.Sprintf("%s was replaced by another node of this name: its folder must be emptied", h.From)
	case h.Kind == wire.KindAsk:
	case h.Kind == Drain || h.Kind == Revive:
		if err := n.cfg.obey(h.Kind); err != nil {
			a.Error = err.Error()
		}
	case h.Kind == wire.KindJoin:
		if a.Error = n.timing.far(nameOf(h.From), h.Wall); a.Error == "" {
			n.admit(h.From)
		}
	case h.Kind != wire.KindLog && (h.Kind != wire.KindClient || h.Client == nil):
		a.Error = fmt.Sprintf("there is no kind of connection %q", h.Kind)
	case h.To != a.Node:
		a.Error = fmt.Sprintf("%s was called, but this is %s: its folder was emptied or replaced", h.To, a.Node)
	case h.Cluster == "":
		a.Error = "the caller belongs to no cluster"
	case a.Cluster == "" && h.Kind == wire.KindLog:
		if err := n.self.join(h.Cluster, nil); err != nil {
			a.Error = err.Error()
			n.fail(err)
			break
		}
		n.cfg.Log.Info().Str("cluster", h.Cluster).Msg("this node has joined the cluster")
		a.Cluster = h.Cluster
	case a.Cluster != h.Cluster:
		a.Error = fmt.Sprintf("%s belongs to the cluster %s, the caller to %s", n.cfg.Name, a.Cluster, h.Cluster)
	case h.Kind == wire.KindClient:
		if err := n.admits(*h.Client); err != nil {
			a.Error = err.Error()
		}
	}
	return a
}

// replaced reports whether a caller is the former life of a member. A node without a leader does not know: its configuration may be old.
func (n *Node) replaced(identity string) bool {
	leader := n.leader()
	if leader == "" || leader == identity {
		return false
	}
	another := false
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		if string(s.ID) == identity {
			return false
		}
		another = another || nameOf(string(s.ID)) == nameOf(identity)
	}
	return another
}

// form makes this node a voter. If all members are there and none belongs to a cluster, the one with the lowest name forms it: it writes the
// members into its log. If there is a cluster, this node asks to be a member of it. It ends when this node votes.
func (n *Node) form() {
	names := slices.Sorted(maps.Keys(n.cfg.Members))
	last := ""
	for !n.Votes() {
		ids, problem := n.survey(names)
		if problem != "" && problem != last {
			n.cfg.Log.Info().Str("reason", problem).Msg("this node is not a member of a cluster yet")
		}
		last = problem
		if problem == "" && names[0] == n.cfg.Name {
			if err := n.bootstrap(ids); err != nil {
				n.fail(err)
			}
			return
		}
		select {
		case <-time.After(min(n.cfg.Timeout/4, surveyPause)):
		case <-n.ended:
			return
		}
	}
}

// surveyPause is the longest pause before a node asks all others again.
const surveyPause = 200 * time.Millisecond

// Votes reports whether this node is a voter, by its own log.
func (n *Node) Votes() bool {
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		if string(s.ID) == n.self.identity() {
			return s.Suffrage == raft.Voter
		}
	}
	return false
}

// survey asks all members who they are; problems say why this node can form no cluster.
func (n *Node) survey(names []string) (ids []string, problems string) {
	var list []string
	for _, name := range names {
		if name == n.cfg.Name {
			ids = append(ids, n.self.identity())
			continue
		}
		a, err := n.port.Ask(n.cfg.Members[name], wire.KindAsk)
		if err == nil && a.Cluster != "" {
			_, err = n.port.Ask(n.cfg.Members[name], wire.KindJoin)
		}
		switch {
		case err != nil:
			list = append(list, fmt.Sprintf("%s: %v", name, err))
		case a.Cluster != "":
			list = append(list, fmt.Sprintf("%s: the cluster %s exists; this node asks to be a member of it", name, a.Cluster))
		case nameOf(a.Node) != name:
			list = append(list, fmt.Sprintf("%s is %s", name, a.Node))
		}
		ids = append(ids, a.Node)
	}
	return ids, strings.Join(list, "; ")
}

// bootstrap makes this node the first of a cluster.
func (n *Node) bootstrap(ids []string) error {
	if err := n.self.join(clusterOf(ids), ids); err != nil {
		return err
	}
	n.cfg.Log.Info().Str("cluster", n.self.cluster()).Str("members", strings.Join(ids, " ")).Msg("the cluster is formed")
	if err := n.raft.BootstrapCluster(membersOf(ids)).Error(); err != nil {
		return err
	}
	n.transport.campaign() // nobody leads yet
	return nil
}

func membersOf(ids []string) (c raft.Configuration) {
	for _, id := range ids {
		c.Servers = append(c.Servers, raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(id)})
	}
	return c
}

// catchUp is how long a new member may take to get the data.
const catchUp = time.Hour

// admit makes a node a member, if this one leads, instead of an earlier life of it. One is admitted at a time; it is asked for again and
// again.
func (n *Node) admit(identity string) {
	if n.raft.State() != raft.Leader || !n.admitting.CompareAndSwap(false, true) {
		return
	}
	n.workers.Go(func() {
		defer n.admitting.Store(false)
		if err := n.replace(identity); err != nil {
			n.cfg.Log.Warn().Str("node", identity).Err(err).Msg("a node could not be made a member")
		}
	})
}

// replace removes an earlier life of a node, adds the new one without a vote, and gives it a vote when it has the data.
func (n *Node) replace(identity string) error {
	id, address := raft.ServerID(identity), raft.ServerAddress(identity)
	suffrage := raft.Staging
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		switch {
		case s.ID == id:
			suffrage = s.Suffrage
		case nameOf(string(s.ID)) == nameOf(identity):
			n.cfg.Log.Warn().Str("node", string(s.ID)).Str("by", identity).Msg("a member of the cluster is replaced")
			if err := n.raft.RemoveServer(s.ID, 0, n.cfg.Timeout*10).Error(); err != nil {
				return err
			}
		}
	}
	if suffrage == raft.Voter {
		return nil
	}
	if suffrage != raft.Nonvoter {
		if err := n.raft.AddNonvoter(id, address, 0, n.cfg.Timeout*10).Error(); err != nil {
			return err
		}
	}
	until := time.Now().Add(catchUp)
	for target := n.raft.CommitIndex(); ; {
		if a, err := n.port.Ask(n.cfg.Members[nameOf(identity)], wire.KindAsk); err == nil && a.Node == identity && a.Applied >= target {
			break
		}
		select {
		case <-time.After(n.cfg.Timeout / 4):
		case <-n.ended:
			return ErrLost
		}
		if n.raft.State() != raft.Leader {
			return ErrLost
		}
		if time.Now().After(until) {
			return fmt.Errorf("%s did not get the data within %v", identity, catchUp)
		}
	}
	return n.raft.AddVoter(id, address, 0, n.cfg.Timeout*10).Error()
}
