package cluster

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"candlemark/internal/storage/cluster/wire"
	"candlemark/internal/storage/store"

	"github.com/hashicorp/raft"
)

// TestBytesInFlight_CLU13: entries wait when those under way have many bytes, and calls to a node have a limit; one long entry passes.
func TestBytesInFlight_CLU13(t *testing.T) {
	f := &front{node: &Node{}, kick: make(chan struct{}, 1), sent: map[uint64]proposal{}, lost: make(chan struct{}), sender: 1}
	for range 5 {
		f.add(operation{queue: 1, records: []store.Record{{Kind: store.Put, Body: make([]byte, 5<<20)}}}, true)
	}
	var sent []uint64
	for {
		number, list := f.next()
		if list == nil {
			break
		}
		sent = append(sent, number)
	}
	if len(sent) != 2 {
		t.Errorf("%d entries of 5 MiB are under way", len(sent))
	}
	if n := f.node.asked.Load(); n != 2 {
		t.Errorf("%d answers are waited for when the node ends", n)
	}
	if list := f.take(1, sent[0]); len(list) != 1 {
		t.Fatal("the entry is not there")
	}
	if _, list := f.next(); list == nil {
		t.Error("none follows the one that was applied")
	}
	call := raft.AppendEntriesRequest{}
	for n, size := range []int{9 << 20, 1, 1} {
		call.Entries = append(call.Entries, &raft.Log{Index: uint64(n), Data: make([]byte, size)})
	}
	if shorten(&call); len(wire.Unite(call.Entries)) != 1 {
		t.Errorf("%d entries behind a long one", len(call.Entries))
	}
	call.Entries = nil
	for n := range uint64(16) {
		call.Entries = append(call.Entries, &raft.Log{Index: n, Data: make([]byte, 1<<20)})
	}
	if shorten(&call); len(wire.Unite(call.Entries)) != 4 {
		t.Errorf("%d entries of 1 MiB", len(call.Entries))
	}
}

// TestLongEntry_CLU13: a call has data in pieces that raft's decoder reads at once, so that the work for an entry grows with its length, not with the square
// of it; the node that is called has the entries again.
func TestLongEntry_CLU13(t *testing.T) {
	call, want := &raft.AppendEntriesRequest{}, [][]byte{nil, {1}, make([]byte, 256<<10), make([]byte, 256<<10+1), {2}, make([]byte, 9<<18), make([]byte, 2<<18)}
	random := rand.NewChaCha8([32]byte{})
	for n := range want {
		_, _ = random.Read(want[n])
		call.Entries = append(call.Entries, &raft.Log{Index: uint64(n + 7), Term: 3, Data: slices.Clone(want[n])})
	}
	before := call.Entries
	shorten(call)
	for _, e := range call.Entries {
		if len(e.Data) > 256<<10 {
			t.Errorf("%d bytes at once", len(e.Data))
		}
	}
	(&transport{node: deaf{}}).unwrap(raft.RPC{Command: call})
	if len(call.Entries) != len(want) {
		t.Fatalf("%d entries, want %d", len(call.Entries), len(want))
	}
	for n, e := range call.Entries {
		if e.Index != uint64(n+7) || e.Term != 3 || !bytes.Equal(e.Data, want[n]) || !bytes.Equal(before[n].Data, want[n]) {
			t.Errorf("entry %d has index %d, term %d and %d bytes", n, e.Index, e.Term, len(e.Data))
		}
	}
}

// deaf is a node that records nothing.
type deaf struct{ node }

func (deaf) hear(string, remark) {}

// narrow is a pipeline with two calls under way, like raft's: a third one waits until somebody has read the first answer.
type narrow struct {
	calls   chan *raft.AppendEntriesRequest
	answers chan raft.AppendFuture
	closed  chan struct{}
}

// refusal is an answer without success.
type refusal struct {
	raft.AppendFuture
	call *raft.AppendEntriesRequest
}

func (refusal) Error() error                          { return nil }
func (refusal) Response() *raft.AppendEntriesResponse { return &raft.AppendEntriesResponse{} }
func (r refusal) Request() *raft.AppendEntriesRequest { return r.call }

func newNarrow() *narrow {
	n := &narrow{make(chan *raft.AppendEntriesRequest), make(chan raft.AppendFuture), make(chan struct{})}
	go func() {
		for {
			select {
			case call := <-n.calls:
				select {
				case n.answers <- refusal{call: call}:
				case <-n.closed:
					return
				}
			case <-n.closed:
				return
			}
		}
	}()
	return n
}

func (n *narrow) AppendEntries(c *raft.AppendEntriesRequest, _ *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	select {
	case n.calls <- c:
		return refusal{call: c}, nil
	case <-n.closed:
		return nil, raft.ErrPipelineShutdown
	}
}

func (n *narrow) Consumer() <-chan raft.AppendFuture { return n.answers }

func (n *narrow) Close() error {
	close(n.closed)
	return nil
}

// TestPipeline_CLU13: calls in a pipeline have the limit, too; after an answer without success, behind which raft reads none, no call waits for ever.
func TestPipeline_CLU13(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newNarrow()
		p := newPipeline(below)
		call := func(p raft.AppendPipeline) error {
			_, err := p.AppendEntries(&raft.AppendEntriesRequest{Entries: []*raft.Log{{Data: make([]byte, callSize)}, {Index: 1, Data: []byte{1}}}}, nil)
			return err
		}
		if err := call(p); err != nil {
			t.Fatal(err)
		}
		if err := call(below); err != nil { // one that has passed the check
			t.Fatal(err)
		}
		third := make(chan error, 1)
		go func() { third <- call(below) }()
		synctest.Wait()
		if f := <-p.Consumer(); len(wire.Unite(f.Request().Entries)) != 1 {
			t.Errorf("%d entries", len(f.Request().Entries))
		}
		<-third
		if err := call(p); err == nil {
			t.Error("the calls go on")
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A node that abandons its broker answers nothing after it has lost its office, so that a begin of a term must not wait for an answer alone.
func TestLostBegin_CLU7(t *testing.T) {
	f := &front{lost: make(chan struct{}), err: ErrLost}
	close(f.lost)
	if err := f.await(make(chan error)); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
}
