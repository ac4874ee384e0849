package cluster

import (
	"bytes"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// TestSecondCopy_CLU5: a copy of data that a node has is read and not installed, as raft would remove the entries behind it, which the node has
// acknowledged.
func TestSecondCopy_CLU5(t *testing.T) {
	to, from := twoPorts(t)
	receiver := newTransport("n1/1", to, 0, hclog.NewNullLogger())
	defer receiver.Close()
	sender := newTransport("n2/2", from, 0, hclog.NewNullLogger())
	defer sender.Close()
	receiver.node, sender.node = alone{}, alone{}
	receiver.has = func(_, _ uint64) bool { return true }
	go func() {
		for call := range receiver.calls {
			t.Errorf("raft gets %T", call.Command)
		}
	}()
	content := make([]byte, 1<<20)
	var a raft.InstallSnapshotResponse
	c := &raft.InstallSnapshotRequest{Term: 3, LastLogIndex: 7, LastLogTerm: 2, Size: int64(len(content))}
	for range 2 {
		if err := sender.InstallSnapshot("n1/1", "n1/1", c, &a, bytes.NewReader(content)); err != nil || !a.Success || a.Term != 3 {
			t.Errorf("%v, %+v", err, a)
		}
	}
	close(receiver.calls)
}
