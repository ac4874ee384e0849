package cluster

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// lease is until when no other node can lead (CLU-17). A node that has taken a heartbeat of the leader takes no part in the election of another one for a
// while (loyalty), unless the leader hands over.
type lease struct {
	tenure  atomic.Pointer[tenure]
	handing atomic.Int32  // orders to hand over, under way
	given   atomic.Uint64 // the last term in which there was one

	mu   sync.Mutex
	term uint64
	sent map[raft.ServerID]int64 // when the last call that a node took was sent, by this node's own clock
}

// tenure is a term, and until when it lasts at least, in ns of this node's own clock.
type tenure struct {
	term  uint64
	until int64
}

// took implements node: another node took this one for the leader of a term, in a call that was sent at a time by this node's own clock.
func (n *Node) took(id raft.ServerID, term uint64, sent int64) {
	l := &n.lease
	l.mu.Lock()
	defer l.mu.Unlock()
	if term < l.term || !n.started() {
		return
	}
	if term > l.term {
		l.term, l.sent = term, map[raft.ServerID]int64{}
	}
	l.sent[id] = max(sent, l.sent[id])
	var list []int64
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			at := l.sent[s.ID]
			if string(s.ID) == n.self.Identity() {
				at = math.MaxInt64
			}
			list = append(list, at)
		}
	}
	if slices.Sort(list); len(list) > 1 {
		at := list[(len(list)-1)/2] // so many and more are a majority
		l.tenure.Store(&tenure{term, at + int64(n.cfg.Timeout)*6/8})
	}
}

// term implements node.
func (n *Node) term() uint64 {
	if !n.started() {
		return 0
	}
	return n.raft.CurrentTerm()
}

// reigns reports whether it is certain that no other node has led since this one began a term.
func (n *Node) reigns(term uint64) bool {
	l := &n.lease
	if l.handing.Load() > 0 || l.given.Load() >= term || n.failed() {
		return false
	}
	if t := l.tenure.Load(); t != nil && t.term == term && n.now() < t.until {
		return true
	}
	voters := 0
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voters++
		}
	}
	return voters == 1 && n.raft.State() == raft.Leader && n.raft.CurrentTerm() == term
}

// loyalty keeps what a node that has taken a heartbeat promises the leader: for a while it takes no part in the election of another one. Raft
// does so, too, but takes heartbeats while it decides about votes.
type loyalty struct {
	lasts time.Duration
	began time.Time
	heard atomic.Int64 // when the last heartbeat came, since began, ns
	votes atomic.Int64 // begins and ends of decisions about votes; odd during one
}

// kept reports whether this node must take no part in an election.
func (l *loyalty) kept() bool {
	heard := l.heard.Load()
	return heard > 0 && int64(time.Since(l.began))-heard < int64(l.lasts)
}

// heartbeat has a heartbeat taken. The answer to one that came during a vote is without success, as it is no promise.
func (l *loyalty) heartbeat(call raft.RPC, take func(raft.RPC)) {
	votes, answer, to := l.votes.Load(), make(chan raft.RPCResponse, 1), call
	l.heard.Store(max(int64(time.Since(l.began)), 1))
	call.RespChan = answer
	take(call)
	var a raft.RPCResponse
	select {
	case a = <-answer:
	default: // raft ends
		return
	}
	if r, ok := a.Response.(*raft.AppendEntriesResponse); ok && (votes%2 == 1 || votes != l.votes.Load()) {
		r.Success = false
	}
	to.Respond(a.Response, a.Error)
}

// vote has a vote decided about, unless this node has made a promise.
func (l *loyalty) vote(call raft.RPC, free bool, take func(raft.RPC) bool, ended <-chan struct{}) {
	l.votes.Add(1)
	defer l.votes.Add(1)
	if !free && l.kept() {
		call.Respond(nil, errPromise)
		return
	}
	answer, to := make(chan raft.RPCResponse, 1), call
	if call.RespChan = answer; !take(call) {
		return
	}
	select {
	case a := <-answer:
		to.Respond(a.Response, a.Error)
	case <-ended:
	}
}
