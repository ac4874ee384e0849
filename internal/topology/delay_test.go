package topology

import (
	"math"
	"slices"
	"testing"

	"candlemark/protocol"
)

func TestDLY2Delay(t *testing.T) {
	for _, row := range []struct {
		value any
		want  int64
	}{
		{int8(5), 0},
		{uint8(5), 5},
		{int16(5), 5},
		{uint16(5), 5},
		{int32(-5), -5},
		{uint32(math.MaxUint32), math.MaxUint32},
		{int64(MaxDelay), MaxDelay},
		{int64(math.MinInt64), math.MinInt64},
		{float32(1.9), 1},
		{-1.9, -1},
		{MaxDelay + 0.9, MaxDelay},
		{math.Inf(-1), -MaxDelay},
		{"42", 42},
		{"+42", 42},
		{"-42", -42},
		{"-99999999999999999999", math.MinInt64},
		{nil, 0},
		{true, 0},
		{protocol.Timestamp(5), 0},
		{protocol.Array{int32(5)}, 0},
	} {
		if got, err := Delay(row.value); got != row.want || err != nil {
			t.Errorf("%T %v: %d, %v, want %d", row.value, row.value, got, err, row.want)
		}
	}
	for _, bad := range []any{
		"", " 1", "1.5", "1e3", "0x1", "soon", "315360000001", "99999999999999999999",
		int64(MaxDelay + 1), float64(MaxDelay + 1), math.Inf(1), math.NaN(),
	} {
		if got, err := Delay(bad); err == nil {
			t.Errorf("%T %v: %d", bad, bad, got)
		}
	}
}

// A publish with a delay ends in the holders of the delayed exchanges on its
// way, and neither bindings nor alternate exchanges there count.
func TestDLY3DLY6Router(t *testing.T) {
	h := newHouse(t)
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
		headers := protocol.Table{{Key: "a", Value: true}, {Key: DelayHeader, Value: row.delay}}
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

func TestDLY4DelayOf(t *testing.T) {
	for v, want := range map[any]int64{int32(5): 5, int32(-5): 0, "7": 7, "x": 0} {
		p := protocol.Properties{Flags: protocol.FlagHeaders, Headers: protocol.Table{{Key: "x", Value: "y"}, {Key: DelayHeader, Value: v}}}
		if got := DelayOf(p.Append(nil)); got != want {
			t.Errorf("%v: %d, want %d", v, got, want)
		}
	}
	if got := DelayOf([]byte{0, 0}); got != 0 {
		t.Errorf("no headers: %d", got)
	}
	if got := DelayOf([]byte{1}); got != 0 {
		t.Errorf("broken: %d", got)
	}
}
