package records

import (
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

// TestRuleOf_STORE1: which messages are stored, by kind of queue and by delivery mode.
func TestRuleOf_STORE1(t *testing.T) {
	args := func(kind string) *topology.Queue {
		return &topology.Queue{Arguments: policies.WithQueueType(nil, true, false, false, kind)}
	}
	rows := map[string]struct {
		q     *topology.Queue
		rule  Rule
		modes [3]bool // whether a message without a delivery mode, or with 1 or 2, is stored
	}{
		"classic":           {args(""), StorePersistent, [3]bool{2: true}},
		"quorum":            {args("quorum"), StoreAll, [3]bool{true, true, true}},
		"dead-letter queue": {&topology.Queue{Arguments: policies.DeadLetterQueueArguments("q")}, StoreAll, [3]bool{true, true, true}},
		"delayed exchange":  {&topology.Queue{Type: topology.HolderType}, StoreAll, [3]bool{true, true, true}},
		"without arguments": {&topology.Queue{}, StorePersistent, [3]bool{2: true}},
	}
	for name, row := range rows {
		if got := RuleOf(row.q); got != StoreNothing {
			t.Errorf("transient %s: %d", name, got)
		}
		row.q.Durable = true
		rule := RuleOf(row.q)
		if rule != row.rule {
			t.Errorf("%s: %d, want %d", name, rule, row.rule)
		}
		for mode, want := range row.modes {
			header := []byte{0x10, 0, byte(mode)}
			if mode == 0 {
				header = []byte{0, 0}
			}
			if got := rule.Stores(&message.Message{Header: header}); got != want {
				t.Errorf("%s, delivery mode %d: %v", name, mode, got)
			}
			if StoreNothing.Stores(&message.Message{Header: header}) {
				t.Error("a transient queue stores a message")
			}
		}
	}
}
