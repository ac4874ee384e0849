package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// ErrHung is the failure of a leader that can store nothing: its disk does not answer, or it could not hand over. Its process must end, or be
// replaced.
var ErrHung = errors.New("this node leads and can store nothing")

// watch ends a leader whose disk hangs, or that refuses everything because it was asked to hand over, and nobody took over (CLU-12). Raft's heartbeats need no disk, so that no other node would become the leader, and raft itself
// waits for the disk: it cannot hand over. With its port closed the others see that this node's process has ended (CLU-7).
func (n *Node) watch() {
	tick := time.NewTicker(min(n.cfg.Hang/8, n.cfg.Timeout/2))
	defer tick.Stop()
	var refuses time.Time // since when the broker's operations are refused although the node leads
	for {
		select {
		case <-tick.C:
		case <-n.ended:
			return
		}
		if n.raft.State() != raft.Leader {
			refuses = time.Time{}
			continue
		}
		if f := n.front.Load(); f != nil && f.over() && errors.Is(f.reason(), ErrLost) && n.Term() == n.raft.CurrentTerm() {
			if now := time.Now(); refuses.IsZero() {
				refuses = now
			} else if now.Sub(refuses) > 2*n.cfg.Timeout {
				n.fail(fmt.Errorf("%w: it did not hand over, and takes nothing any more: %w", ErrHung, f.reason()))
				_ = n.port.Close()
				return
			}
		}
		what, since := "log", n.log.Writing()
		if since <= n.cfg.Hang {
			what, since = "journal", n.machine.stalled()/5
		}
		if since > n.cfg.Hang {
			n.fail(fmt.Errorf("%w: a write to its %s takes longer than %v, the disk hangs", ErrHung, what, n.cfg.Hang))
			_ = n.port.Close()
			return
		}
	}
}

// Refrain makes this node wait for a silent leader four times as long as the others do, for d: another node should lead, because the
// broker could not start here.
func (n *Node) Refrain(d time.Duration) {
	n.wait(4 * n.cfg.Timeout) // a leader, too, sends its heartbeats at a tenth of this
	n.workers.Go(func() {
		select {
		case <-time.After(d):
			n.wait(n.cfg.Timeout)
		case <-n.ended:
		}
	})
}

// wait changes how long this node waits for a silent leader.
func (n *Node) wait(d time.Duration) {
	c := n.raft.ReloadableConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = d, d
	if err := n.raft.ReloadConfig(c); err != nil {
		n.cfg.Log.Error().Err(err).Msg("raft keeps its time-outs")
	}
}

// answers waits for the answers that raft owes, as it forgets questions when it ends; but not for long, as it may wait for the disk.
func (n *Node) answers() {
	for limit := time.Now().Add(2 * n.cfg.Timeout); n.asked.Load() > 0 && time.Now().Before(limit); {
		<-time.After(time.Millisecond)
	}
}
