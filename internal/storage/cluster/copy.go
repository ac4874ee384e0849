package cluster

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"candlemark/internal/storage/cluster/copies"

	"github.com/hashicorp/raft"
)

// receiver is the part of a copies.Store that the transport uses.
type receiver interface {
	Has(term, index uint64) bool
	Receive(conn net.Conn, o *copies.Offer, stop func() error) error
	Done()
}

// source is a copy of the data, such as a copies.Source.
type source interface {
	Serve(conn net.Conn, c *raft.InstallSnapshotRequest, a *raft.InstallSnapshotResponse) error
}

// Refusals of copies.
var (
	errOldCopier = errors.New("a node with this program gets no copy of the data from one with an older program")
	errOtherCopy = errors.New("another copy of the data is being received")
	errOtherTerm = errors.New("the copy of the data is that of an earlier leader")
	errTransport = errors.New("this node ends")
	copyPatience = 10 * time.Second
)

// InstallSnapshot implements raft.Transport: the other node gets what it lacks of a copy, over a connection of its own (CLU-28).
func (t *transport) InstallSnapshot(_ raft.ServerID, to raft.ServerAddress, c *raft.InstallSnapshotRequest, a *raft.InstallSnapshotResponse, data io.Reader) error {
	from, ok := data.(source)
	if !ok {
		return errors.ErrUnsupported
	}
	conn, err := t.port.DialCopy(string(to), copyPatience)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return from.Serve(conn, c, a)
}

// take gets a copy of the data over a connection, and has raft install it.
func (t *transport) take(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	if !t.receiving.begin() {
		return
	}
	defer t.receiving.all.Done()
	o, err := copies.ReadOffer(conn)
	if err != nil {
		t.log.Warn().Err(err).Msg("an offer of a copy of the data is not valid")
		return
	}
	var a *raft.InstallSnapshotResponse
	if err = t.receiving.enter(conn, o.Call.Term, t.ended); err == nil {
		a, err = t.copy(conn, o)
		t.receiving.leave()
	}
	_ = copies.Answer(conn, a, err)
}

// copy receives a copy. A copy of no more than the node has is not installed: raft would remove the later entries of its log, which it has acknowledged.
func (t *transport) copy(conn net.Conn, o *copies.Offer) (*raft.InstallSnapshotResponse, error) {
	c := &o.Call
	answer := make(chan raft.RPCResponse, 1)
	call := raft.RPC{Command: c, RespChan: answer, Reader: strings.NewReader(copies.Fetched)}
	t.unwrap(call)
	a := &raft.InstallSnapshotResponse{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(t.identity), Addr: t.remark(false)}, Term: max(c.Term, t.term()),
	}
	if a.Success = a.Term == c.Term && t.copies.Has(c.LastLogTerm, c.LastLogIndex); a.Success || a.Term > c.Term {
		return a, nil
	}
	stop := func() error {
		if t.term() > c.Term {
			return errOtherTerm
		}
		return nil
	}
	if err := t.copies.Receive(conn, o, stop); err != nil {
		return nil, err
	}
	defer t.copies.Done()
	c.Size = int64(len(copies.Fetched))
	if !t.pass(call) {
		return nil, errTransport
	}
	select {
	case r := <-answer:
		got, ok := r.Response.(*raft.InstallSnapshotResponse)
		if r.Error == nil && !ok {
			r.Error = fmt.Errorf("%T is no answer", r.Response)
		}
		return got, r.Error
	case <-t.ended:
		return nil, errTransport
	}
}

// receiving makes copies take turns: one is received, and one more may wait.
type receiving struct {
	mu            sync.Mutex
	conn          net.Conn // of the copy that is received
	term          uint64   // of the latest copy
	waits, closed bool
	turn          chan struct{} // has an element while a copy is received
	all           sync.WaitGroup
}

// begin counts a connection; false after wait.
func (r *receiving) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.all.Add(1)
	}
	return !r.closed
}

// wait waits until all connections have ended. Later ones are refused.
func (r *receiving) wait() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.all.Wait()
}

// enter ends the copy that is received, unless it is of a later leader, and waits for its end.
func (r *receiving) enter(conn net.Conn, term uint64, ended <-chan struct{}) error {
	r.mu.Lock()
	if r.waits || term < r.term {
		r.mu.Unlock()
		return errOtherCopy
	}
	r.waits, r.term = true, term
	if r.conn != nil {
		_ = r.conn.Close()
	}
	r.mu.Unlock()
	select {
	case r.turn <- struct{}{}:
	case <-ended:
		return errTransport
	}
	r.mu.Lock()
	r.waits, r.conn = false, conn
	r.mu.Unlock()
	return nil
}

// leave lets the next copy begin.
func (r *receiving) leave() {
	r.mu.Lock()
	r.conn = nil
	r.mu.Unlock()
	<-r.turn
}
