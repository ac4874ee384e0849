package timeheaders

import (
	"math"
	"testing"

	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
