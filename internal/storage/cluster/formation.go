package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/wire"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

// hello returns what this node says of itself.
func (m *Membership) hello() wire.Hello {
	n := m.node
	_, wall := n.timing.read()
	return wire.Hello{Oldest: m.level(), Newest: n.cfg.Newest, Wall: wall, Cluster: n.self.Cluster(), Members: m.roster(), From: n.self.Identity(), Place: m.own().Said(), Voted: n.self.HasVoted() || n.started() && n.Votes()}
}

// judge decides about a caller.
func (m *Membership) judge(h wire.Hello) wire.Answer {
	n := m.node
	a := wire.Answer{Cluster: n.self.Cluster(), Node: n.self.Identity(), Members: m.roster(), Place: m.own().Said(), Applied: n.machine.applied()}
	if n.started() {
		_, a.Leader = m.named(n.Leader())
	}
	removed := ""
	if n.started() && (h.Kind == wire.KindLog || h.Kind == wire.KindCopy || h.Kind == wire.KindClient || h.Kind == wire.KindJoin && h.Voted) {
		removed = m.replaced(h.From)
	}
	switch {
	case !n.started():
		a.Error = n.cfg.Name + wire.Starting
	case nodeid.NameOf(h.From) == "" || nodeid.NameOf(h.From) == n.cfg.Name:
		a.Error = fmt.Sprintf("%q is not the name of another member", nodeid.NameOf(h.From))
	case removed != "":
		a.Error = removed
	case h.Kind == wire.KindAsk:
		m.tells(h, &a)
	case h.Kind == Drain || h.Kind == Revive || h.Kind == MayReset || h.Kind == Reset:
		if a.Error = calledOther(h, a); a.Error != "" {
			break
		}
		if err := n.cfg.obey(h.Kind); err != nil {
			a.Error = err.Error()
		}
	case h.Kind == wire.KindJoin && h.Cluster != "" && a.Cluster != "" && h.Cluster != a.Cluster:
		a.Error = fmt.Sprintf("%s belongs to the cluster %s, the caller to %s", n.cfg.Name, a.Cluster, h.Cluster)
	case h.Kind == wire.KindJoin:
		if a.Error = m.refuses(h); a.Error == "" {
			m.admit(caller(h))
		}
	case h.Kind != wire.KindLog && h.Kind != wire.KindCopy && (h.Kind != wire.KindClient || h.Client == nil):
		a.Error = fmt.Sprintf("there is no kind of connection %q", h.Kind)
	case calledOther(h, a) != "":
		a.Error = calledOther(h, a)
	case h.Cluster == "":
		a.Error = "the caller belongs to no cluster"
	case a.Cluster == "" && h.Kind == wire.KindLog:
		if err := n.self.Join(h.Cluster, nil); err != nil {
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

// tells answers a question.
func (m *Membership) tells(h wire.Hello, a *wire.Answer) {
	n := m.node
	if h.Joins {
		a.Error = m.refuses(h)
	}
	if h.Report {
		a.Pace = n.log.Pace()
	}
	if h.Report && n.cfg.Report != nil {
		a.Report = n.cfg.Report()
	}
}

// refuses returns why a caller cannot become a member, "" if it can.
func (m *Membership) refuses(h wire.Hello) string {
	return cmp.Or(m.node.timing.far(nodeid.NameOf(h.From), h.Wall), m.twice(h.From))
}

// calledOther returns why a caller does not mean this node, "" if it does. Older programs do not say to whom they give a command.
func calledOther(h wire.Hello, own wire.Answer) string {
	if h.To == own.Node || h.To == "" && h.Kind != wire.KindLog && h.Kind != wire.KindClient {
		return ""
	}
	return fmt.Sprintf("%s was called, but this is %s: its folder was emptied or replaced", h.To, own.Node)
}

// form makes this node a member, now and whenever it is told that it is none any more: then it asks, and all nodes log that it was removed (CLU-25).
func (m *Membership) form() {
	n := m.node
	if first := n.self.First(); n.cfg.Finder != nil && n.unformed() {
		if err := m.begin(first); err != nil {
			n.fail(err)
			return
		}
	}
	for m.belong() {
		for n.Votes() {
			if !n.pause(n.cfg.Timeout) {
				return
			}
		}
	}
}

// belong makes this node a voter, and lets the members know where it is. If all nodes of the settings are there, have the same settings, and none belongs
// to a cluster, the one with the lowest name forms it: it writes the members into its log. If there is a cluster, this node asks to be a member of it. It returns false at
// the end of the node.
func (m *Membership) belong() bool {
	n := m.node
	last := ""
	for !n.Votes() {
		members, problem := m.survey()
		if problem != "" && problem != last {
			n.cfg.Log.Warn().Str("reason", problem).Msg("this node is not a member of a cluster yet")
		}
		last = problem
		if problem == "" && nodeid.NameOf(members[0]) == n.cfg.Name {
			if err := m.bootstrap(members); err != nil {
				n.fail(err)
				return false
			}
			break
		}
		if !n.pause(min(n.cfg.Timeout/4, surveyPause)) {
			return false
		}
	}
	if err := n.self.Vote(); err != nil && !errors.Is(err, vfs.ErrFull) { // the log says it, too
		n.fail(err)
		return false
	}
	for !m.placed() && n.pause(n.cfg.Timeout) {
		_ = m.find()
		m.tell()
	}
	return true
}

// unformed reports whether this node was about to form a cluster.
func (n *Node) unformed() bool {
	last, _ := n.log.LastIndex()
	return last == 0 && n.copies.Saved() == nil && len(n.self.First()) > 0
}

// tell lets the leader know where this node is. A node that has moved may not be told who leads.
func (m *Membership) tell() {
	n := m.node
	if n.raft.State() == raft.Leader {
		m.admit(m.own())
		return
	}
	list := m.search.Found().Others
	for _, s := range m.servers() {
		if string(s.ID) != n.self.Identity() {
			list = append(list, m.addresses(string(s.ID))...)
		}
	}
	slices.Sort(list)
	for _, address := range slices.Compact(list) {
		a, _ := n.port.Ask(address, wire.KindJoin)
		m.search.Note(a.Node, address)
	}
}

// pause waits, and returns false at the end of the node.
func (n *Node) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-n.ended:
		return false
	}
}

// surveyPause is the longest pause before a node asks all others again.
const surveyPause = 200 * time.Millisecond

// Votes reports whether this node is a voter, by its own log.
func (n *Node) Votes() bool {
	s, is := n.members.member(n.self.Identity())
	return is && s.Suffrage == raft.Voter
}

// survey asks all nodes of the settings, or the seeds of Join, who they are. It returns their places, in the order of their names; problems say why this node can
// form no cluster.
func (m *Membership) survey() (members []string, problems string) {
	n := m.node
	list := m.find()
	own := m.roster()
	members = append(members, m.own().String())
	for _, s := range m.seeds() {
		at := cmp.Or(s.name, s.address)
		a, err := n.port.Ask(s.address, wire.KindAsk)
		if s.found && slices.ContainsFunc(members, func(place string) bool { return nodeid.PlaceOf(place).Identity == a.Node }) {
			continue // it has two addresses
		}
		m.search.Note(a.Node, s.address)
		if err == nil && a.Cluster != "" && m.own().Address != "" {
			_, err = n.port.Ask(cmp.Or(a.Leader, s.address), wire.KindJoin)
		}
		switch {
		case err != nil:
			list = append(list, fmt.Sprintf("%s: %v", at, err))
		case a.Cluster != "":
			list = append(list, fmt.Sprintf("%s: the cluster %s exists; this node asks to be a member of it", at, a.Cluster))
		case s.name == "" && !s.found:
			list = append(list, at+": it is a member of no cluster")
		case s.found && a.Place == "":
			list = append(list, at+": it does not know its own address yet")
		case nodeid.NameOf(a.Node) != s.name && !s.found:
			list = append(list, fmt.Sprintf("%s is %s", at, a.Node))
		case a.Members != own && a.Version >= wire.Places: // an older version has compared them itself
			list = append(list, fmt.Sprintf("the settings of %s name the members %s, those of %s name %s", n.cfg.Name, own, at, a.Members))
		}
		members = append(members, a.Node+" "+a.Place)
	}
	slices.Sort(members)
	list = append(list, m.search.Agree(nodeid.Identities(members))...)
	return members, strings.Join(list, "; ")
}

// bootstrap makes this node the first of a cluster.
func (m *Membership) bootstrap(members []string) error {
	if err := m.node.self.Join(nodeid.ClusterOf(nodeid.Identities(members)), members); err != nil {
		return err
	}
	return m.begin(members)
}

// begin writes the members of a new cluster into the log.
func (m *Membership) begin(members []string) error {
	n := m.node
	if !m.promised(members) {
		return nil
	}
	n.cfg.Log.Info().Str("cluster", n.self.Cluster()).Strs("members", members).Msg("the cluster is formed")
	if err := n.raft.BootstrapCluster(nodeid.Configuration(members)).Error(); err != nil {
		return err
	}
	n.transport.campaign() // nobody leads yet
	return nil
}

// catchUp is how long a new member may take to get the data.
const catchUp = time.Hour

// maxJoining is how many nodes may become members at the same time.
const maxJoining = 8

// admit makes a node a member, if this one leads, instead of an earlier life of it, or notes where a member is now. It is asked for again and again.
func (m *Membership) admit(p nodeid.Place) {
	n := m.node
	m.mu.Lock()
	defer m.mu.Unlock()
	if n.raft.State() != raft.Leader || m.joining[p.Identity] || len(m.joining) == maxJoining {
		return
	}
	m.joining[p.Identity] = true
	n.workers.Go(func() {
		if err := m.replace(p); err != nil {
			n.cfg.Log.Warn().Str("node", p.Identity).Err(err).Msg("a node could not be made a member")
		}
		m.mu.Lock()
		delete(m.joining, p.Identity)
		m.mu.Unlock()
	})
}

// replace removes an earlier life of a node, adds the new one without a vote, and gives it a vote when it has the data.
func (m *Membership) replace(p nodeid.Place) error {
	n := m.node
	if old := m.outdated(); old != "" {
		if len(m.addresses(p.Identity)) == 0 {
			return fmt.Errorf("%s has a version that knows only members of the settings, or does not answer", old)
		}
		p = nodeid.Place{Identity: p.Identity}
	}
	if level := m.level(); max(p.Version, 1) < level {
		return fmt.Errorf("%s knows version %d, and all members have had version %d: its program is too old", p.Identity, p.Version, level)
	}
	id, address, patience := raft.ServerID(p.Identity), raft.ServerAddress(p.String()), n.cfg.Timeout*10
	suffrage := raft.Staging
	for _, s := range m.servers() {
		switch {
		case s.ID == id:
			suffrage = s.Suffrage
			if suffrage == raft.Voter && (s.Address == address || p.Address == "") {
				return nil
			}
		case nodeid.NameOf(string(s.ID)) == nodeid.NameOf(p.Identity):
			n.cfg.Log.Warn().Str("node", string(s.ID)).Str("by", p.Identity).Msg("a member of the cluster is replaced")
			if err := n.raft.RemoveServer(s.ID, 0, patience).Error(); err != nil {
				return err
			}
		}
	}
	if suffrage == raft.Voter {
		n.cfg.Log.Info().Str("node", p.Identity).Str("address", p.Address).Strs("clients", p.Clients).Msg("a member has told where it is")
		return n.raft.AddVoter(id, address, 0, patience).Error()
	}
	if err := n.raft.AddNonvoter(id, address, 0, patience).Error(); err != nil {
		return err
	}
	if err := m.caughtUp(p); err != nil {
		return err
	}
	return n.raft.AddVoter(id, address, 0, patience).Error()
}

// caughtUp waits until a new member has what is committed now. Errors: it takes too long, it does not answer or is removed, or this node does not lead any more.
func (m *Membership) caughtUp(p nodeid.Place) error {
	n := m.node
	began := time.Now()
	heard, target := began, n.raft.CommitIndex()
	for {
		for _, at := range m.addresses(p.String()) {
			a, err := n.port.Ask(at, wire.KindAsk)
			if err != nil || a.Node != p.Identity {
				continue
			}
			if heard = time.Now(); a.Applied >= target {
				return nil
			}
		}
		if !n.pause(n.cfg.Timeout/4) || n.raft.State() != raft.Leader {
			return ErrLost
		}
		if _, is := m.member(p.Identity); !is || time.Since(began) > catchUp || time.Since(heard) > n.cfg.Timeout*20 {
			return fmt.Errorf("%s did not get the data", p.Identity)
		}
	}
}
