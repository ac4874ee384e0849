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
)

// transport carries the calls of raft, and adds two rules: no votes shortly after the start (CLU-6), and an election at once
// when the leader's process has ended (CLU-7).
type transport struct {
	*raft.NetworkTransport
	identity string
	calls    chan raft.RPC
	ended    chan struct{}
	port     *wire.Port
	until    time.Time // no votes before
	leader   func() string
	rank     func(without string) (rank, members int) // of this node among the members without one
	looking  atomic.Bool
	timing   *timing
	once     sync.Once
}

var _ raft.WithPreVote = (*transport)(nil)

// pool is how many idle connections to a peer are kept.
const pool = 3

// newTransport returns a transport through which this node does not vote for a while.
func newTransport(identity string, port *wire.Port, silent time.Duration, logger hclog.Logger) *transport {
	t := &transport{
		NetworkTransport: raft.NewNetworkTransportWithLogger(port, pool, 10*time.Second, logger),
		identity:         identity, calls: make(chan raft.RPC), ended: make(chan struct{}), port: port, until: time.Now().Add(silent),
	}
	go t.run()
	return t
}

// LocalAddr implements raft.Transport.
func (t *transport) LocalAddr() raft.ServerAddress { return raft.ServerAddress(t.identity) }

// Consumer implements raft.Transport.
func (t *transport) Consumer() <-chan raft.RPC { return t.calls }

var errEarly = errors.New("this node has just started and does not vote yet")

// EncodePeer implements raft.Transport: with the stamp of this node (CLU-9). Answers have it, too.
func (t *transport) EncodePeer(_ raft.ServerID, a raft.ServerAddress) []byte {
	return t.timing.stamp().Append([]byte(a))
}

// DecodePeer implements raft.Transport.
func (t *transport) DecodePeer(b []byte) raft.ServerAddress {
	address, _ := clocks.Cut(b)
	return raft.ServerAddress(address)
}

// SetHeartbeatHandler implements raft.Transport.
func (t *transport) SetHeartbeatHandler(f func(raft.RPC)) {
	t.NetworkTransport.SetHeartbeatHandler(func(call raft.RPC) {
		t.unstamp(call)
		f(call)
	})
}

// unstamp takes the stamp out of a call. The stamp of a leader is recorded; a vote must have none.
func (t *transport) unstamp(call raft.RPC) {
	var s clocks.Stamp
	switch c := call.Command.(type) {
	case *raft.AppendEntriesRequest:
		c.Addr, s = clocks.Cut(c.Addr)
		c.Leader, _ = clocks.Cut(c.Leader)
		t.timing.heard(s)
	case *raft.RequestVoteRequest:
		c.Addr, _ = clocks.Cut(c.Addr)
		c.Candidate, _ = clocks.Cut(c.Candidate)
	case *raft.RequestPreVoteRequest:
		c.Addr, _ = clocks.Cut(c.Addr)
	case *raft.InstallSnapshotRequest:
		c.Addr, _ = clocks.Cut(c.Addr)
		c.Leader, _ = clocks.Cut(c.Leader)
	}
}

// AppendEntries implements raft.Transport: heartbeats, too, have the present time.
func (t *transport) AppendEntries(id raft.ServerID, to raft.ServerAddress, c *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) error {
	c.Addr = t.EncodePeer("", t.LocalAddr())
	sent, _ := t.timing.read()
	err := t.NetworkTransport.AppendEntries(id, to, c, a)
	t.answered(id, a.Addr, a.Term, sent, err)
	return err
}

// RequestVote implements raft.Transport.
func (t *transport) RequestVote(id raft.ServerID, to raft.ServerAddress, c *raft.RequestVoteRequest, a *raft.RequestVoteResponse) error {
	sent, _ := t.timing.read()
	err := t.NetworkTransport.RequestVote(id, to, c, a)
	t.answered(id, a.Addr, a.Term, sent, err)
	return err
}

// answered records what a node has said in its answer.
func (t *transport) answered(id raft.ServerID, address []byte, term uint64, sent int64, err error) {
	if _, s := clocks.Cut(address); err == nil {
		now, _ := t.timing.read()
		t.timing.clocks.Answered(nameOf(string(id)), s, term, sent, now)
	}
}

func (t *transport) run() {
	for {
		select {
		case call := <-t.NetworkTransport.Consumer():
			t.unstamp(call)
			switch call.Command.(type) {
			case *raft.RequestVoteRequest, *raft.RequestPreVoteRequest:
				if time.Now().Before(t.until) {
					call.Respond(nil, errEarly)
					continue
				}
			}
			select {
			case t.calls <- call:
			case <-t.ended:
				return
			}
		case <-t.ended:
			return
		}
	}
}

// Close implements raft.WithClose.
func (t *transport) Close() error {
	t.once.Do(func() { close(t.ended) })
	return t.NetworkTransport.Close()
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
	select {
	case t.calls <- call:
	case <-t.ended:
	}
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
	select {
	case <-time.After(d):
		return true
	case <-t.ended:
		return false
	}
}
