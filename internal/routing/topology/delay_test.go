package topology

import (
	"slices"
	"testing"

	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/protocol"
)

// A publish with a delay is routed to the holders of the delayed exchanges on its route; their bindings and alternate
// exchanges are not used.
func TestDLY3DLY6Router(t *testing.T) {
	h := newFixture(t)
	front, late, alternate := h.exchange("front", "fanout"), h.exchange("late", "direct"), h.exchange("alternate", "fanout")
	later := h.exchange("later", "fanout")
	for _, x := range []*Exchange{late, later} {
		x.Type = DelayedType
		x.SetHolder(&Queue{Name: HolderName(x.Name), Type: HolderType})
	}
	h.bindExchange(front, late, "")
	h.bindExchange(front, later, "")
	h.bindExchange(late, later, "k")
	h.bind(front, "q", "", nil)
	h.bind(late, "q1", "k", nil)
	h.bind(later, "q2", "", nil)
	h.bind(alternate, "q3", "", nil)
	late.Publish(late.Routes().WithAlternate("alternate"))
	for _, row := range []struct {
		x     *Exchange
		key   string
		delay any
		want  []string
		error bool
	}{
		{late, "k", nil, []string{"q1", "q2"}, false},
		{late, "k", int32(0), []string{"q1", "q2"}, false},
		{late, "k", int32(-1), []string{"q1", "q2"}, false},
		{late, "other", int32(-1), []string{"q3"}, false},
		{late, "k", "x", []string{"q1", "q2"}, true},
		{late, "k", int32(1), []string{"amq.delayed.late"}, false},
		{late, "other", int32(1), []string{"amq.delayed.late"}, false},
		{front, "k", int32(1), []string{"amq.delayed.late", "amq.delayed.later", "q"}, false},
		{front, "k", int32(-1), []string{"q", "q1", "q2"}, false},
		{alternate, "k", "x", []string{"q3"}, false},
	} {
		headers := protocol.Table{{Key: "a", Value: true}, {Key: timeheaders.DelayHeader, Value: row.delay}}
		if got := h.route(row.x, row.key, headers); !slices.Equal(got, row.want) || (h.router.Refusal() != nil) != row.error {
			t.Errorf("%s %s %v: %q, %v", row.x.Name, row.key, row.delay, got, h.router.Refusal())
		}
	}
	if got := namesOf(t, slices.Collect(h.directory.Keepers())); !slices.Equal(got, []string{
		"amq.delayed.late", "amq.delayed.later", "q", "q1", "q2", "q3",
	}) {
		t.Errorf("%q keep messages", got)
	}
}
