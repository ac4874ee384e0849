package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"candlemark/internal/storage/store"
)

// Model models the order of a journal: after a crash each queue is in the state after some record, at or after the last
// one known to be durable. The zero value is empty. It is not safe for concurrent use.
type Model struct {
	queues map[store.QueueID]*history
}

// history of one queue.
type history struct {
	state   State // after the durable records
	pending []store.Record
	base    int // how many records are in state
}

// State of a queue: its messages by number.
type State map[uint64]Message

// Message is the model's record of a message.
type Message struct {
	store.Recovered
	Kind store.Kind
}

func (m *Model) queue(q store.QueueID) *history {
	if m.queues == nil {
		m.queues = map[store.QueueID]*history{}
	}
	if m.queues[q] == nil {
		m.queues[q] = &history{state: State{}}
	}
	return m.queues[q]
}

// Append records appended records and returns the mark to pass to Durable.
func (m *Model) Append(q store.QueueID, records ...store.Record) int {
	h := m.queue(q)
	for _, r := range records {
		// The content of a message follows from its number: keep only its size.
		r.Exchange, r.RoutingKey, r.Overlay = nil, nil, nil
		if r.Due == 0 {
			r.Header = nil
		}
		h.pending = append(h.pending, r)
	}
	return h.base + len(h.pending)
}

// Durable records that everything up to the mark is durable.
func (m *Model) Durable(q store.QueueID, mark int) {
	h := m.queue(q)
	n := max(0, mark-h.base)
	for i := range h.pending[:n] {
		h.state.Apply(&h.pending[i])
	}
	clear(h.pending[:n]) // bodies are long
	h.pending, h.base = h.pending[n:], h.base+n
}

// AllDurable records that everything is durable.
func (m *Model) AllDurable() {
	for q, h := range m.queues {
		m.Durable(q, h.base+len(h.pending))
	}
}

// Forget is a restart after the last record.
func (m *Model) Forget() {
	m.AllDurable()
	for _, h := range m.queues {
		h.state = h.state.survivors()
	}
}

// Queues returns the queues that ever had a record, in order.
func (m *Model) Queues() []store.QueueID { return slices.Sorted(maps.Keys(m.queues)) }

// Now returns the state of a queue after all its records. It belongs to the caller.
func (m *Model) Now(q store.QueueID) State {
	h := m.queue(q)
	now := maps.Clone(h.state)
	for i := range h.pending {
		now.Apply(&h.pending[i])
	}
	return now
}

// Restart compares the messages that a journal has of a queue after a restart, and takes them as the new state.
func (m *Model) Restart(q store.QueueID, got []store.Recovered) error {
	h := m.queue(q)
	best := h.state.survivors().Differs(got)
	for i := 0; best != "" && i < len(h.pending); i++ {
		h.state.Apply(&h.pending[i])
		if h.state.survivors().Differs(got) == "" {
			best = ""
		}
	}
	if best != "" {
		return fmt.Errorf("queue %d: no state since the last durable record, in which %s", q, best)
	}
	h.state, h.pending = h.state.survivors(), nil
	return nil
}

// survivors returns the state without messages that a restart forgets.
func (s State) survivors() State {
	kept := maps.Clone(s)
	maps.DeleteFunc(kept, func(_ uint64, m Message) bool { return m.Kind == store.Spill })
	return kept
}

// Apply applies a record.
func (s State) Apply(r *store.Record) {
	switch r.Kind {
	case store.Put, store.Spill:
		was, there := s[r.First]
		if r.Again && !there {
			return
		}
		s[r.First] = Message{Kind: r.Kind, Recovered: store.Recovered{
			Seq: r.First, Deadline: r.Deadline, TTL: r.TTL, Time: r.Time, Body: uint32(len(r.Body)), Priority: r.Priority,
			Due: r.Due, Note: r.Note,
		}}
		if r.Due != 0 {
			m := s[r.First]
			m.MessageID = store.IDHash(r.Header)
			s[r.First] = m
		}
		if r.Again {
			m := s[r.First]
			m.Returns, m.Redelivered, m.Deferred, m.Until = was.Returns, was.Redelivered, was.Deferred, was.Until
			m.Released, m.TTLThen = was.Released, was.TTLThen
			s[r.First] = m
		}
	case store.Retire:
		clear(s)
	case store.Named, store.Applied:
	case store.Delivered, store.Returned, store.Remove, store.Released, store.Rescheduled, store.Deferred, store.Postponed, store.GivenBack:
		for n, m := range s {
			if n < r.First || n > r.Last {
				continue
			}
			switch r.Kind {
			case store.Remove:
				delete(s, n)
				continue
			case store.Returned:
				m.Returns.Fail()
				m.Redelivered = true
			case store.GivenBack:
				m.Returns.GiveBack()
				m.Redelivered = true
			case store.Released:
				m.Released, m.TTLThen = true, r.TTLThen
			case store.Deferred, store.Postponed:
				m.Deferred, m.Until = true, r.Until
			case store.Rescheduled:
				m.Due = r.Due
			case store.Delivered:
				m.Redelivered = true
			case store.Put, store.Spill, store.Retire, store.Named, store.Applied: // not about existing messages
			}
			s[n] = m
		}
	}
}

// List returns the expected result of Take or Recall, without positions.
func (s State) List() []store.Recovered {
	list := make([]store.Recovered, 0, len(s))
	for _, m := range s {
		list = append(list, m.Recovered)
	}
	slices.SortFunc(list, func(a, b store.Recovered) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

// Differs describes how a list of messages differs from the state, "" if it does not.
func (s State) Differs(got []store.Recovered) string {
	want := s.List()
	for i, w := range want {
		if i >= len(got) || got[i].Seq > w.Seq {
			return fmt.Sprintf("message %d is lost (%d are there, of %d)", w.Seq, len(got), len(want))
		}
		if got[i].Seq < w.Seq {
			return fmt.Sprintf("message %d is there (%d are, not %d)", got[i].Seq, len(got), len(want))
		}
		g := got[i]
		if g.At == 0 {
			return fmt.Sprintf("message %d has no position", g.Seq)
		}
		if g.At = 0; g != w {
			return fmt.Sprintf("message %+v was %+v", g, w)
		}
	}
	if len(got) > len(want) {
		return fmt.Sprintf("message %d is there (%d are, not %d)", got[len(want)].Seq, len(got), len(want))
	}
	return ""
}
