package cluster

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/storage/cluster/clocks"
	"candlemark/internal/storage/cluster/wire"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
)

// node is the part of a Node that its transport uses.
type node interface {
	remark(heartbeat bool) []byte
	// now returns the time by the node's own clock.
	now() int64
	hear(identity string, r remark)
	// answered records the remark in an answer to a call that was sent at a time by the node's own clock.
	answered(id raft.ServerID, address []byte, term uint64, sent int64, err error)
	// took records that a node took this one for the leader of a term, in a call that was sent at a time by the node's own clock.
	took(id raft.ServerID, term uint64, sent int64)
	// term returns the term that this node knows.
	term() uint64
	// trusted reports whether a candidate's log has what a node has acknowledged.
	trusted(candidate position, identity string) bool
}

// transport carries the calls of raft, and adds two rules: no votes shortly after the start (CLU-6), and an election at once
// when the leader's process has ended (CLU-7).
type transport struct {
	*raft.NetworkTransport
	identity  string
	calls     chan raft.RPC
	ended     chan struct{}
	port      *wire.Port
	until     time.Time // no votes before
	leader    func() string
	rank      func(without string) (rank, members int) // of this node among the members without one
	looking   atomic.Bool
	loyalty   loyalty
	log       zerolog.Logger
	copies    receiver
	receiving receiving
	node
	once sync.Once
}

var _ raft.WithPreVote = (*transport)(nil)

// pool is how many idle connections to a peer are kept.
const pool = 3

// newTransport returns a transport through which this node does not vote for a while.
func newTransport(identity string, port *wire.Port, silent time.Duration, logger hclog.Logger) *transport {
	t := &transport{
		NetworkTransport: raft.NewNetworkTransportWithLogger(port, pool, 10*time.Second, logger),
		identity:         identity, calls: make(chan raft.RPC), ended: make(chan struct{}), port: port, until: time.Now().Add(silent),
		loyalty: loyalty{began: time.Now()}, receiving: receiving{turn: make(chan struct{}, 1)},
	}
	go t.run()
	return t
}

// LocalAddr implements raft.Transport.
func (t *transport) LocalAddr() raft.ServerAddress { return raft.ServerAddress(t.identity) }

// Consumer implements raft.Transport.
func (t *transport) Consumer() <-chan raft.RPC { return t.calls }

// Refusals of a vote.
var (
	errEarly   = errors.New("this node has just started and does not vote yet")
	errPromise = errors.New("this node has heard the leader a short time ago")
	errLate    = errors.New("the order to take over is of an earlier term")
	errOldCopy = errors.New("the candidate lacks entries that it has acknowledged: it was started from an older copy of its folder")
)

// EncodePeer implements raft.Transport: with a remark of this node (CLU-9, CLU-11). Answers have one, too.
func (t *transport) EncodePeer(raft.ServerID, raft.ServerAddress) []byte { return t.remark(false) }

// DecodePeer implements raft.Transport.
func (t *transport) DecodePeer(b []byte) raft.ServerAddress {
	address, _ := readRemark(b)
	return raft.ServerAddress(address)
}

// SetHeartbeatHandler implements raft.Transport.
func (t *transport) SetHeartbeatHandler(f func(raft.RPC)) {
	t.NetworkTransport.SetHeartbeatHandler(func(call raft.RPC) {
		t.unwrap(call)
		if c, ok := call.Command.(*raft.AppendEntriesRequest); ok && c.Term >= t.term() {
			t.loyalty.heartbeat(call, f)
			return
		}
		f(call)
	})
}

// unwrap takes the remark out of a call and records it; a vote must have none. Raft uses the older forms of the header only without it.
func (t *transport) unwrap(call raft.RPC) {
	switch c := call.Command.(type) {
	case *raft.AppendEntriesRequest:
		t.noted(&c.RPCHeader)
		c.Entries = wire.Unite(c.Entries)
	case *raft.RequestVoteRequest:
		t.noted(&c.RPCHeader)
	case *raft.RequestPreVoteRequest:
		t.noted(&c.RPCHeader)
	case *raft.InstallSnapshotRequest:
		t.noted(&c.RPCHeader)
	}
}

// noted takes the remark out of a header and passes it on.
func (t *transport) noted(h *raft.RPCHeader) {
	address, r := readRemark(h.Addr)
	h.Addr = address
	t.hear(string(address), r)
}

// AppendEntries implements raft.Transport: heartbeats have a new remark.
func (t *transport) AppendEntries(id raft.ServerID, to raft.ServerAddress, c *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) error {
	c.Addr = t.remark(true)
	shorten(c)
	sent := t.now()
	err := t.NetworkTransport.AppendEntries(id, to, c, a)
	t.answered(id, a.Addr, a.Term, sent, err)
	if err == nil && a.Success && a.Term == c.Term {
		t.took(id, c.Term, sent)
	}
	return err
}

// callSize is how many bytes of entries a call has, except for one longer entry. Two calls are under way to a node (CLU-13).
const callSize = 4 << 20

// shorten leaves entries for the next call, and divides long ones into pieces.
func shorten(c *raft.AppendEntriesRequest) {
	for n, size := 0, 0; n < len(c.Entries); n++ {
		if size += len(c.Entries[n].Data); size > callSize && n > 0 {
			c.Entries = c.Entries[:n]
		}
	}
	c.Entries = wire.Divide(c.Entries)
}

// RequestVote implements raft.Transport. The vote of a node that has acknowledged what this one lacks does not count (CLU-11), nor do votes after a
// heartbeat that came before the answer (CLU-17).
func (t *transport) RequestVote(id raft.ServerID, to raft.ServerAddress, c *raft.RequestVoteRequest, a *raft.RequestVoteResponse) error {
	sent := t.now()
	err := t.NetworkTransport.RequestVote(id, to, c, a)
	t.answered(id, a.Addr, a.Term, sent, err)
	a.Granted = a.Granted && (c.LeadershipTransfer || !t.loyalty.kept()) && t.trusted(position{c.LastLogTerm, c.LastLogIndex}, string(id))
	return err
}

// RequestPreVote implements raft.WithPreVote.
func (t *transport) RequestPreVote(id raft.ServerID, to raft.ServerAddress, c *raft.RequestPreVoteRequest, a *raft.RequestPreVoteResponse) error {
	sent := t.now()
	err := t.NetworkTransport.RequestPreVote(id, to, c, a)
	t.answered(id, a.Addr, a.Term, sent, err)
	a.Granted = a.Granted && t.trusted(position{c.LastLogTerm, c.LastLogIndex}, string(id))
	return err
}

// refused answers a request for a vote if it must not reach raft, and reports that.
func (t *transport) refused(call raft.RPC) bool {
	var candidate string
	var last position
	switch c := call.Command.(type) {
	case *raft.TimeoutNowRequest:
		if _, r := readRemark(c.Addr); r.Kind == clocks.Leads && r.Term < t.term() {
			call.Respond(nil, errLate)
			return true
		}
		return false
	case *raft.RequestVoteRequest:
		candidate, last = string(c.Addr), position{c.LastLogTerm, c.LastLogIndex}
	case *raft.RequestPreVoteRequest:
		candidate, last = string(c.Addr), position{c.LastLogTerm, c.LastLogIndex}
	default:
		return false
	}
	switch {
	case time.Now().Before(t.until):
		call.Respond(nil, errEarly)
	case !t.trusted(last, candidate):
		call.Respond(nil, errOldCopy)
	default:
		return false
	}
	return true
}

func (t *transport) run() {
	for {
		select {
		case call := <-t.NetworkTransport.Consumer():
			t.unwrap(call)
			if t.refused(call) {
				continue
			}
			switch c := call.Command.(type) {
			case *raft.RequestVoteRequest:
				t.loyalty.vote(call, c.LeadershipTransfer, t.pass, t.ended)
				continue
			case *raft.InstallSnapshotRequest:
				call.Respond(nil, errOldCopier)
				continue
			}
			if !t.pass(call) {
				return
			}
		case <-t.ended:
			return
		}
	}
}

// pass gives a call to raft; false at the end.
func (t *transport) pass(call raft.RPC) bool {
	select {
	case t.calls <- call:
		return true
	case <-t.ended:
		return false
	}
}

// Close implements raft.WithClose.
func (t *transport) Close() error {
	t.once.Do(func() { close(t.ended) })
	err := t.NetworkTransport.Close()
	t.receiving.wait()
	return err
}

// turn is how much later the next follower becomes a candidate because the leader's process has ended: two candidates at once elect
// nobody.
const turn = 150 * time.Millisecond

// lost is called when the last connection from a peer has ended. If that was the leader and nobody listens at its address,
// this node becomes a candidate without waiting for the time-out.
func (t *transport) lost(peer string) {
	if t.leader() != peer || !t.looking.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer t.looking.Store(false)
		for range candidacies {
			rank, members := t.rank(peer)
			if !t.pause(time.Duration(rank)*turn) || !t.endedProcess(peer) {
				return
			}
			t.log.Info().Str("leader", peer).Msg("the process of the leader has ended: this node becomes a candidate")
			t.campaign()
			if !t.pause(time.Duration(members-rank) * turn) {
				return
			}
		}
	}()
}

// campaign makes this node a candidate.
func (t *transport) campaign() {
	call := raft.RPC{RespChan: make(chan raft.RPCResponse, 1), Command: &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(t.identity), Addr: []byte(t.identity),
	}}}
	t.pass(call)
}

// candidacies is how often a follower becomes a candidate because the leader's process has ended: the first one may lack entries.
const candidacies = 5

// endedProcess reports whether nobody listens at the address of the leader. A process that ends closes its sockets one after the other,
// so that it is asked for a while. It is false when there is another leader.
func (t *transport) endedProcess(peer string) bool {
	for range 10 {
		if now := t.leader(); now != peer && now != "" {
			return false
		}
		if t.port.Refuses(peer) {
			return true
		}
		if !t.pause(turn / 5) {
			return false
		}
	}
	return false
}

// pause waits, and returns false if the transport is closed before the end.
func (t *transport) pause(d time.Duration) bool {
	d = max(d, time.Nanosecond) // CONTRIBUTING, "Tests": no timer that is due
	select {
	case <-time.After(d):
		return true
	case <-t.ended:
		return false
	}
}
