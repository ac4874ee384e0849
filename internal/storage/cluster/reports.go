package cluster

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"candlemark/internal/storage/cluster/pace"

	"github.com/hashicorp/raft"
)

const (
	// reportEvery is how often a leader asks each node how it is (CLU-33).
	reportEvery = 5 * time.Second
	// reportAge is how old a report may be.
	reportAge = 4 * reportEvery
)

// reports are the descriptions that the leader has got of the other nodes. The package does not look into them.
type reports struct {
	mu    sync.Mutex
	asked time.Time
	under map[string]bool // identities of nodes that were asked and have not answered
	by    map[string]report
}

type report struct {
	at   time.Time
	text json.RawMessage
	pace pace.Sample
}

// ask asks all other nodes if it is time, each in its own goroutine.
func (n *Node) askReports() {
	r := &n.reports
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if n.raft.State() != raft.Leader {
		n.office.Ended()
		return
	}
	if now.Sub(r.asked) < reportEvery {
		return
	}
	r.asked = now
	n.judgeDisk(now)
	maps.DeleteFunc(r.by, func(_ string, one report) bool { return now.Sub(one.at) > reportAge })
	if r.under == nil {
		r.under, r.by = map[string]bool{}, map[string]report{}
	}
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		id := string(s.ID)
		if id == n.self.Identity() || r.under[id] {
			continue
		}
		r.under[id] = true
		n.workers.Go(func() {
			a, err := n.port.Report(id)
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.under, id)
			if err == nil {
				r.by[id] = report{time.Now(), a.Report, a.Pace}
			}
		})
	}
}

// judgeDisk makes another node lead when the disk of this one is much slower than the others' (CLU-37). The reports are locked.
func (n *Node) judgeDisk(now time.Time) {
	r, voters := &n.reports, 0
	var others []pace.Sample
	for _, s := range n.members.servers() {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if one := r.by[string(s.ID)]; now.Sub(one.at) <= 2*reportEvery {
			others = append(others, one.pace)
		}
	}
	reason := n.office.Look(now, n.log.Pace(), others, voters)
	if reason == "" {
		return
	}
	n.cfg.Log.Warn().Str("reason", reason).Msg("another node is asked to lead")
	n.workers.Go(func() {
		if !n.pause(notice) {
			return
		}
		if err := n.TransferLeadership(""); err != nil {
			n.cfg.Log.Warn().Err(err).Msg("no other node leads instead of this one with a slow disk")
		}
		n.office.Answered()
	})
}

// notice is for how long the reason of a change of the leader is told before.
const notice = 3 * time.Second

// of returns the last report of a node, nil without a recent one.
func (r *reports) of(identity string) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.by[identity]; time.Since(one.at) <= reportAge {
		return one.text
	}
	return nil
}
