package status

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/internal/servicebus/entity"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The status of an entity, and for subscriptions also the topic's, determines which operations are allowed.
func TestStatus_SBE1(t *testing.T) {
	var none *Table
	if !none.Sends("/", "q") || !none.Receives("/", "q") || none.Generation() != 0 {
		t.Error("without a table something is disabled")
	}
	none.Watch(nil)()
	for _, c := range []struct {
		path, asked     string
		status          entity.Status
		sends, receives bool
	}{
		{"q", "q", entity.Active, true, true},
		{"q", "q", entity.Disabled, false, false},
		{"q", "q", entity.SendDisabled, false, true},
		{"q", "q", entity.ReceiveDisabled, true, false},
		{"q", "q.dlq", entity.Disabled, true, false},
		{"q", "other", entity.Disabled, true, true},
		{"t", "t/Subscriptions/s", entity.Disabled, true, false},
		{"t", "t/Subscriptions/s.dlq", entity.ReceiveDisabled, true, false},
		{"t", "t/Subscriptions/s", entity.SendDisabled, true, true},
		{"t/Subscriptions/s", "t/Subscriptions/s", entity.ReceiveDisabled, true, false},
		{"t/Subscriptions/s", "t", entity.Disabled, true, true},
	} {
		table := &Table{}
		table.Set("/", c.path, c.status)
		if s, r := table.Sends("/", c.asked), table.Receives("/", c.asked); s != c.sends || r != c.receives {
			t.Errorf("%s is %s: %s sends %v, receives %v", c.path, c.status, c.asked, s, r)
		}
		if !table.Sends("other", c.asked) || !table.Receives("other", c.asked) {
			t.Errorf("%s counts in another virtual host", c.path)
		}
	}
}

// Watchers are called only for changes.
func TestWatch(t *testing.T) {
	table := &Table{}
	var changes []string
	stop := table.Watch(func(vhost, path string) { changes = append(changes, fmt.Sprint(vhost, path, table.Sends(vhost, path))) })
	for _, s := range []entity.Status{"", entity.Active, entity.Disabled, entity.Disabled, entity.SendDisabled, ""} {
		table.Set("/", "q", s)
	}
	if want := []string{"/qfalse", "/qfalse", "/qtrue"}; !slices.Equal(changes, want) || table.Generation() != 3 {
		t.Errorf("%q, generation %d", changes, table.Generation())
	}
	stop()
	table.Set("/", "q", entity.Disabled)
	if len(changes) != 3 || len(table.watchers) != 0 {
		t.Error("a watcher was called after it had stopped")
	}
	before := table.Generation()
	if table.Forget("/"); !table.Sends("/", "q") || len(table.snapshot().statuses) != 0 || table.Generation() != before+1 {
		t.Error("a virtual host is not forgotten, or nobody can see that")
	}
}
