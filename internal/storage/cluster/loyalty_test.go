package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// TestLoyalty_CLU17: a node that has taken a heartbeat gives no vote for a while, unless the leader hands over; a heartbeat that comes during a vote is no
// promise.
func TestLoyalty_CLU17(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &loyalty{lasts: time.Second, began: time.Now()}
		ended := make(chan struct{})
		call := func() (raft.RPC, chan raft.RPCResponse) {
			answers := make(chan raft.RPCResponse, 1)
			return raft.RPC{RespChan: answers}, answers
		}
		beat := func() bool {
			c, answers := call()
			l.heartbeat(c, func(c raft.RPC) { c.Respond(&raft.AppendEntriesResponse{Success: true}, nil) })
			return (<-answers).Response.(*raft.AppendEntriesResponse).Success
		}
		vote := func(free bool, meanwhile func()) bool {
			c, answers := call()
			l.vote(c, free, func(c raft.RPC) bool {
				meanwhile()
				c.Respond(&raft.RequestVoteResponse{Granted: true}, nil)
				return true
			}, ended)
			return (<-answers).Error == nil
		}
		nothing := func() {}
		if !vote(false, nothing) || !beat() {
			t.Error("without a promise: no vote, or no success")
		}
		if vote(false, nothing) {
			t.Error("a vote in spite of the promise")
		}
		if !vote(true, nothing) {
			t.Error("no vote for the one that takes over")
		}
		time.Sleep(2 * time.Second)
		if !vote(false, func() {
			if beat() {
				t.Error("a promise during a vote")
			}
		}) {
			t.Error("no vote after the promise has ended")
		}
		time.Sleep(2 * time.Second)
		c, answers := call()
		l.heartbeat(c, func(c raft.RPC) {
			vote(true, nothing)
			c.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
		})
		if (<-answers).Response.(*raft.AppendEntriesResponse).Success {
			t.Error("a promise although a vote was given meanwhile")
		}
	})
}
