package cluster

import (
	"fmt"

	"candlemark/internal/storage/cluster/raftlog"

	"github.com/hashicorp/raft"
)

// ballots are the votes of a node. An error of the disk ends the node (CLU-8), where raft would panic: its port is closed, so that no vote
// leaves it any more, whatever raft does until the process ends.
type ballots struct {
	*raftlog.Votes
	node *Node
}

var _ raft.StableStore = ballots{}

// Set implements raft.StableStore.
func (b ballots) Set(key, value []byte) error { return b.end(b.Votes.Set(key, value)) }

// SetUint64 implements raft.StableStore.
func (b ballots) SetUint64(key []byte, value uint64) error {
	return b.end(b.Votes.SetUint64(key, value))
}

func (b ballots) end(err error) error {
	if err == nil || !b.node.started() {
		return err
	}
	_ = b.node.port.Close()
	b.node.fail(fmt.Errorf("the votes of this node: %w", err))
	return nil
}
