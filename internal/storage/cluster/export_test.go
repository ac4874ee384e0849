package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/store"
)

// Describe lists what a node has: messages and definitions.
func (n *Node) Describe() (string, error) {
	lists, err := n.Messages()
	if err != nil {
		return "", err
	}
	data := n.copies.Data()
	var text strings.Builder
	for _, q := range slices.Sorted(maps.Keys(lists)) {
		for _, m := range lists[q] {
			m.At = 0 // each node has its own places
			fmt.Fprintf(&text, "%d %+v\n", q, m)
		}
	}
	d, err := data.Definitions.Load()
	fmt.Fprintf(&text, "%+v\n", d)
	return text.String(), err
}

// SetTimeout changes how long a node waits for a silent leader.
func (n *Node) SetTimeout(d time.Duration) { n.wait(d) }

// Knows reports whether a node knows that the other nodes have its own last entry.
func (n *Node) Knows(names ...string) bool {
	for _, name := range names {
		found := name == n.cfg.Name
		for identity, p := range n.witness.positions() {
			found = found || nodeid.NameOf(identity) == name && !p.before(n.last())
		}
		if !found {
			return false
		}
	}
	return true
}

func (w *witness) positions() map[string]position {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.seen)
}

// AwaitVote waits until a node that has just started votes (CLU-6).
func (n *Node) AwaitVote() { <-time.After(time.Until(n.transport.until)) }

// Wait returns how long a node waits for a silent leader.
func (n *Node) Wait() time.Duration { return n.raft.ReloadableConfig().ElectionTimeout }

// Messages returns the messages of all queues.
func (n *Node) Messages() (map[store.QueueID][]store.Recovered, error) {
	type found struct {
		lists map[store.QueueID][]store.Recovered
		err   error
	}
	got := make(chan found, 1)
	n.copies.Data().Journal.Survey(func(lists map[store.QueueID][]store.Recovered, err error) { got <- found{lists, err} })
	f := <-got
	return f.lists, f.err
}

// Order hands over to a node, whether it may lead or not.
func (n *Node) Order(to string) error {
	for _, s := range n.members.servers() {
		if nodeid.NameOf(string(s.ID)) == to {
			return n.handOver(s)
		}
	}
	return ErrNoSuccessor
}
