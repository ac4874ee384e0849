package vhost_test

import (
	"fmt"
	"testing"

	"candlemark/actors/names/vhost"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// withStoredFixture runs test on a vhost that starts with stored definitions and has its policies.
func withStoredFixture(t *testing.T, stored vhost.Stored, test func(h *fixture)) {
	t.Helper()
	withConfiguredFixture(t, func(cfg *vhost.Config) { cfg.Stored = &stored }, func(h *fixture) {
		h.send(&mail.ApplyPolicies{Set: policies.NewSet("/")})
		test(h)
	})
}

// awake answers the Wake of a queue.
func (h *fixture) awake(q *probe) {
	h.t.Helper()
	w := take[*mail.Activate](h, q)
	h.send(&mail.ActivateReply{Reply: w.Done(nil)})
}

// TestStoredQueueWithoutItsDeadLetterQueue: a missing dead-letter queue is created before its queue opens, and commands wait for
// both.
func TestStoredQueueWithoutItsDeadLetterQueue(t *testing.T) {
	stored := vhost.Stored{Queues: []definitions.Queue{
		{VHost: "/", Name: "q", Type: "classic", Incarnation: 1, Arguments: wantsDeadLetterQueue},
		{VHost: "/", Name: "plain", Type: "classic", Incarnation: 2},
		{VHost: "/", Name: "plain.dlq", Type: "classic", Incarnation: 3, Arguments: wantsDeadLetterQueue},
	}}
	withStoredFixture(t, stored, func(h *fixture) {
		q, dead := h.queue("q"), h.queue("q.dlq")
		h.nothing(q)
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Passive: true})
		d := take[*mail.DeclareQueue](h, dead)
		h.nothing(q)
		h.send(&mail.DeclareQueueReply{Reply: d.Done(nil), Name: "q.dlq"})
		for _, name := range []string{"q", "plain", "plain.dlq"} {
			h.awake(h.queue(name))
		}
		h.nothing(dead) // a new queue is not recovering
		take[*mail.DeclareQueue](h, q)
		if h.published("q.dlq") == nil || !h.published("q.dlq").Durable {
			t.Errorf("%+v", h.published("q.dlq"))
		}
	})
}

// TestStoredDeadLetterQueueThatCannotBeMade: its queue opens without it.
func TestStoredDeadLetterQueueThatCannotBeMade(t *testing.T) {
	stored := vhost.Stored{Queues: []definitions.Queue{{VHost: "/", Name: "q", Type: "classic", Incarnation: 1, Arguments: wantsDeadLetterQueue}}}
	change := func(cfg *vhost.Config) {
		cfg.Stored, cfg.MaxQueues = &stored, func() (int64, bool) { return 1, true }
	}
	withConfiguredFixture(t, change, func(h *fixture) {
		h.send(&mail.ApplyPolicies{Set: policies.NewSet("/")})
		h.awake(h.queue("q"))
		h.send(&mail.DeclareExchange{Request: h.ask(), Name: "amq.direct", Passive: true})
		h.wantTopology(0, "")
	})
}

// TestStoredQueueThatDiesWhileItIsOpened: it is opened once after each start, and the virtual host becomes ready.
func TestStoredQueueThatDiesWhileItIsOpened(t *testing.T) {
	stored := vhost.Stored{Queues: []definitions.Queue{{VHost: "/", Name: "q", Type: "classic", Incarnation: 1}}}
	change := func(cfg *vhost.Config) {
		cfg.Stored, cfg.Messages = &stored, func(_ store.QueueID, _ bool, done func([]store.Recovered, error)) { done(nil, nil) }
	}
	withConfiguredFixture(t, change, func(h *fixture) {
		h.send(&mail.ApplyPolicies{Set: policies.NewSet("/")})
		q := h.queue("q")
		take[*mail.Activate](h, q)
		h.goes("q")
		h.awake(h.queue("q"))
		h.nothing(h.queue("q"))
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/"})
		take[*mail.DeclareQueue](h, h.queue("q"))
	})
}

// TestStoredHolderIsKept_DLY5: the messages of an exchange that cannot be restored, as one of a later version, are kept.
func TestStoredHolderIsKept_DLY5(t *testing.T) {
	for _, row := range []struct {
		exchanges []definitions.Exchange
		retired   int
	}{{[]definitions.Exchange{{VHost: "/", Name: "x", Type: "unknown"}}, 0}, {nil, 1}} {
		retired := 0
		stored := vhost.Stored{Exchanges: row.exchanges, Queues: []definitions.Queue{{VHost: "/", Name: "amq.delayed.x", Type: "delayed", Incarnation: 7}}}
		withConfiguredFixture(t, func(cfg *vhost.Config) {
			cfg.Stored, cfg.Retire = &stored, func(of store.QueueID) { retired += int(of) / 7 }
		}, func(h *fixture) {
			h.send(&mail.ApplyPolicies{Set: policies.NewSet("/")})
			h.send(&mail.DeclareExchange{Request: h.ask(), Name: "amq.direct", Passive: true})
			if retired != row.retired {
				t.Errorf("%v: %d queues are gone from the journal", row.exchanges, retired)
			}
		})
	}
}

// TestStoredEmptyQueues: a queue of which the journal has nothing is used without being opened, unless it may end by itself; commands wait for all queues, of which
// there are more than one turn starts.
func TestStoredEmptyQueues(t *testing.T) {
	stored := vhost.Stored{Queues: []definitions.Queue{
		{VHost: "/", Name: "leased", Type: "classic", Incarnation: 1, Arguments: protocol.Table{{Key: "x-expires", Value: int64(1000)}}},
		{VHost: "/", Name: "ending", Type: "classic", Incarnation: 2, Ending: "lease"},
		{VHost: "/", Name: "written", Type: "classic", Incarnation: 3},
	}}
	for i := range uint64(200) {
		stored.Queues = append(stored.Queues, definitions.Queue{VHost: "/", Name: fmt.Sprint("q", i), Type: "classic", Incarnation: 10 + i})
	}
	change := func(cfg *vhost.Config) {
		cfg.Stored, cfg.Empty = &stored, func(of store.QueueID) bool { return of != 3 }
	}
	withConfiguredFixture(t, change, func(h *fixture) {
		h.send(&mail.ApplyPolicies{Set: policies.NewSet("/")})
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q199", VHost: "/", Passive: true})
		h.nothing(h.queue("q199"))
		for _, name := range []string{"leased", "ending", "written"} {
			h.awake(h.queue(name))
		}
		take[*mail.DeclareQueue](h, h.queue("q199"))
		for i := range 199 {
			h.nothing(h.queue(fmt.Sprint("q", i)))
		}
	})
}
