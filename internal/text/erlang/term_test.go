package erlang

import (
	"math"
	"testing"

	"candlemark/protocol"
)

func TestAMQPTerm(t *testing.T) {
	tests := []struct {
		value any
		want  string
	}{
		{nil, "undefined"},
		{true, "true"},
		{int8(-1), "-1"},
		{uint32(7), "7"},
		{protocol.Timestamp(9), "9"},
		{float32(1.5), "1.5"},
		{protocol.Decimal{Scale: 2, Value: 314}, "{2,314}"},
		{"a", `<<"a">>`},
		{[]byte{0xe9}, "<<233>>"},
		{protocol.Table{{Key: "k", Value: "v"}, {Key: "n", Value: int8(1)}}, `[{<<"k">>,longstr,<<"v">>},{<<"n">>,byte,1}]`},
		{protocol.Array{"v", int64(1)}, `[{longstr,<<"v">>},{long,1}]`},
	}
	for _, test := range tests {
		if got := Field(test.value); got != test.want {
			t.Errorf("ERR-4 %#v: %s, want %s", test.value, got, test.want)
		}
	}
}

// The expected terms were printed by Erlang/OTP 25.
func TestFloatTerm(t *testing.T) {
	tests := []struct {
		value float64
		want  string
	}{
		{60000, "6.0e4"},
		{1000, "1.0e3"},
		{100, "100.0"},
		{1230, "1230.0"},
		{12000, "1.2e4"},
		{123456.789, "123456.789"},
		{1.5, "1.5"},
		{0.5, "0.5"},
		{0.05, "0.05"},
		{0.0001, "0.0001"},
		{0.00005, "5.0e-5"},
		{0.00012, "1.2e-4"},
		{0.00123, "0.00123"},
		{9007199254740991, "9007199254740991.0"},
		{9007199254740992, "9.007199254740992e15"},
		{123456789012345, "123456789012345.0"},
		{0, "0.0"},
		{math.Copysign(0, -1), "-0.0"},
		{-1.5, "-1.5"},
		{5e-324, "5.0e-324"},
		{1.7976931348623157e308, "1.7976931348623157e308"},
	}
	for _, test := range tests {
		if got := Float(test.value); got != test.want {
			t.Errorf("POL-5 %s, want %s", got, test.want)
		}
	}
}
