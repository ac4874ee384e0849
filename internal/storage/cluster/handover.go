package cluster

import (
	"errors"
	"time"

	"candlemark/internal/storage/cluster/nodeid"

	"github.com/hashicorp/raft"
)

// ErrNoSuccessor is the refusal of an order to hand over (CLU-22).
var ErrNoSuccessor = errors.New("no other node that is meant has a vote, answers, and may lead")

// Resign hands the leadership to another node, if this one leads. Errors as of TransferLeadership.
func (n *Node) Resign() error { return n.TransferLeadership("") }

// TransferLeadership hands the leadership to the member with a name, or, if the name is "", to the one with the most applied entries of all that may lead. It does
// nothing if that node leads already. Errors: ErrNotLeading; ErrNoSuccessor, and this node goes on; or the other one could not be elected, and this node has to end
// (CLU-12).
func (n *Node) TransferLeadership(to string) error {
	if to != "" && to == n.Leader() {
		return nil
	}
	s, err := n.successor(to)
	if err != nil {
		return err
	}
	return n.handOver(s)
}

// MayTransfer returns why TransferLeadership would change nothing, nil if it would.
func (n *Node) MayTransfer(to string) error {
	if to != "" && to == n.Leader() {
		return nil
	}
	_, err := n.successor(to)
	return err
}

// successor asks the other voters, or the one with a name, how they are, and returns the one with the most applied entries of all that may lead. Raft itself also takes a node that
// is down, or that hands over at once, and refuses everything during the attempt.
func (n *Node) successor(name string) (best raft.Server, err error) {
	if n.raft.State() != raft.Leader {
		return best, ErrNotLeading
	}
	type candidate struct {
		raft.Server
		able    bool
		applied uint64
	}
	asked, found := 0, make(chan candidate, len(n.members.servers()))
	for _, s := range n.members.servers() {
		if id := string(s.ID); s.Suffrage == raft.Voter && id != n.self.Identity() && (name == "" || name == nodeid.NameOf(id)) {
			asked++
			n.workers.Go(func() {
				a, err := n.port.Report(id)
				able := err == nil && a.Node == id && (n.cfg.MayLead == nil || a.Report == nil || n.cfg.MayLead(a.Report))
				found <- candidate{s, able, a.Applied}
			})
		}
	}
	err = ErrNoSuccessor
	most := uint64(0)
	var enough <-chan time.Time // one may lead: a node that hangs is not waited for
	for ; asked > 0; asked-- {
		select {
		case c := <-found:
			if c.able && (err != nil || c.applied > most) {
				best, most, err = c.Server, c.applied, nil
				enough = time.After(n.cfg.Timeout / 8)
			}
		case <-enough:
			return best, nil
		case <-n.ended:
			return best, ErrNoSuccessor
		}
	}
	return best, err
}

// handOver makes a member lead. It needs no promise, now and later in this term: such a call may be late.
func (n *Node) handOver(to raft.Server) error {
	n.asked.Add(1)
	defer n.asked.Add(-1)
	l := &n.lease
	l.handing.Add(1)
	defer l.handing.Add(-1)
	err := n.raft.LeadershipTransferToServer(to.ID, to.Address).Error()
	l.given.Store(n.raft.CurrentTerm())
	return err
}
