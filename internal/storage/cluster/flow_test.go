package cluster

import (
	"errors"
	"testing"

	"candlemark/internal/storage/store"

	"github.com/hashicorp/raft"
)

// TestBytesInFlight_CLU13: entries wait when those under way have many bytes, and calls to a node have a limit; one long entry passes.
func TestBytesInFlight_CLU13(t *testing.T) {
	f := &front{kick: make(chan struct{}, 1), sent: map[uint64]proposal{}, lost: make(chan struct{}), sender: 1}
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
	if list := f.take(1, sent[0]); len(list) != 1 {
		t.Fatal("the entry is not there")
	}
	if _, list := f.next(); list == nil {
		t.Error("none follows the one that was applied")
	}
	call := raft.AppendEntriesRequest{}
	for _, size := range []int{9 << 20, 1, 1} {
		call.Entries = append(call.Entries, &raft.Log{Data: make([]byte, size)})
	}
	if shorten(&call); len(call.Entries) != 1 {
		t.Errorf("%d entries behind a long one", len(call.Entries))
	}
	call.Entries = nil
	for range 16 {
		call.Entries = append(call.Entries, &raft.Log{Data: make([]byte, 1<<20)})
	}
	if shorten(&call); len(call.Entries) != 4 {
		t.Errorf("%d entries of 1 MiB", len(call.Entries))
	}
}

// failing is a pipeline that only counts.
type failing struct {
	raft.AppendPipeline
	entries int
}

func (f *failing) AppendEntries(c *raft.AppendEntriesRequest, _ *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	f.entries = len(c.Entries)
	return nil, errors.New("none")
}

// TestPipeline_CLU13: calls in a pipeline have the limit, too.
func TestPipeline_CLU13(t *testing.T) {
	f := &failing{}
	call := &raft.AppendEntriesRequest{Entries: []*raft.Log{{Data: make([]byte, callSize)}, {Data: []byte{1}}}}
	if _, err := (pipeline{f}).AppendEntries(call, nil); err == nil || f.entries != 1 {
		t.Errorf("%d entries, %v", f.entries, err)
	}
}
