package records

import (
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

// Rule is which messages a queue stores, so that they survive a restart and a crash (STORE-1). It does not change while
// the queue exists.
type Rule uint8

// The rules of queues.
const (
	// StoreNothing: a transient queue.
	StoreNothing Rule = iota
	// StorePersistent: messages with delivery-mode 2. A durable classic queue.
	StorePersistent
	// StoreAll: every message. A durable queue of another kind.
	StoreAll
)

// RuleOf returns the rule of a queue.
func RuleOf(q *topology.Queue) Rule {
	switch {
	case !q.Durable:
		return StoreNothing
	case q.Holds(), policies.DeadLettersFrom(q.Arguments) != "", policies.KindOf(q.Arguments) == policies.KindQuorumQueue:
		return StoreAll
	}
	return StorePersistent
}

// Stores reports whether a message that enters the queue is stored.
func (r Rule) Stores(m *message.Message) bool {
	return r == StoreAll || r == StorePersistent && m.Persistent()
}
