package cluster

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"candlemark/internal/storage/cluster/copies"
	"candlemark/internal/storage/definitions"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// stock has all entries up to one of term 2. A copy has come when its connection says something, or has ended.
type stock struct {
	has    uint64
	begins chan uint64 // gets the term of a copy
}

func (s *stock) Has(term, index uint64) bool { return term == 2 && index <= s.has }

func (s *stock) Receive(conn net.Conn, o *copies.Offer, _ func() error) error {
	s.begins <- o.Call.Term
	_, err := io.ReadFull(conn, make([]byte, 1))
	return err
}

func (s *stock) Done() {}

// answer has the result of a copy, from the node that gets it.
type answer struct {
	Response raft.InstallSnapshotResponse
	Error    string
}

// offer offers a copy up to entry 7 of term 2 to a node.
func offer(t *testing.T, to *transport, term uint64) net.Conn {
	t.Helper()
	conn, far := net.Pipe()
	go to.take(far)
	b, err := json.Marshal(copies.Offer{
		Call: raft.InstallSnapshotRequest{Term: term, LastLogIndex: 7, LastLogTerm: 2}, Files: []copies.File{{Name: definitions.FileName}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// result reads the answer to an offer.
func result(conn net.Conn) (a answer, err error) {
	defer func() { _ = conn.Close() }()
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return a, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(conn, b); err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}

// receives returns a transport that receives copies, and gives raft none.
func receives(t *testing.T, s *stock) *transport {
	t.Helper()
	to, from := twoPorts(t)
	_ = from.Close()
	receiver := newTransport("n1/1", to, 0, hclog.NewNullLogger())
	receiver.node, receiver.copies = alone{}, s
	go func() {
		select {
		case call := <-receiver.calls:
			t.Errorf("raft gets %T", call.Command)
		case <-receiver.ended:
		}
	}()
	t.Cleanup(func() { _ = receiver.Close() })
	return receiver
}

// TestSecondCopy_CLU5: a copy of data that a node has is not received and not installed, as raft would remove the entries behind it, which the node has
// acknowledged.
func TestSecondCopy_CLU5(t *testing.T) {
	receiver := receives(t, &stock{has: 7})
	for range 2 {
		a, err := result(offer(t, receiver, 3))
		if err != nil || a.Error != "" || !a.Response.Success || a.Response.Term != 3 {
			t.Errorf("%v, %+v", err, a)
		}
	}
}

// TestCopiesTakeTurns_CLU29: the copy of a later leader ends an earlier one, and the copy of an earlier leader is refused.
func TestCopiesTakeTurns_CLU29(t *testing.T) {
	s := &stock{begins: make(chan uint64)}
	receiver := receives(t, s)
	first := offer(t, receiver, 3)
	if term := <-s.begins; term != 3 {
		t.Errorf("term %d", term)
	}
	a, err := result(offer(t, receiver, 2))
	if err != nil || !strings.Contains(a.Error, errOtherCopy.Error()) {
		t.Errorf("an earlier leader: %v, %+v", err, a)
	}
	second := offer(t, receiver, 4)
	if term := <-s.begins; term != 4 {
		t.Errorf("term %d", term)
	}
	if _, err := result(first); !errors.Is(err, io.EOF) {
		t.Errorf("the earlier copy has not ended: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}
