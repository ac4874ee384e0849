package cluster

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

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
}

// ask asks all other nodes if it is time, each in its own goroutine.
func (n *Node) askReports() {
	r := &n.reports
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if n.raft.State() != raft.Leader || now.Sub(r.asked) < reportEvery {
		return
	}
	r.asked = now
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
			if err == nil && a.Report != nil {
				r.by[id] = report{time.Now(), a.Report}
			}
		})
	}
}

// of returns the last report of a node, nil without a recent one.
func (r *reports) of(identity string) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.by[identity]; time.Since(one.at) <= reportAge {
		return one.text
	}
	return nil
}
