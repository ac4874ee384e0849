package forms

import (
	"math"
	"testing"

	"candlemark/internal/text/jsonencode"
	"candlemark/protocol"
)

func TestArgumentsAsJSON(t *testing.T) {
	table := protocol.Table{
		{Key: "z", Value: true},
		{Key: "a", Value: protocol.Array{int8(-1), uint8(200), protocol.Decimal{Scale: 2, Value: -314}, []byte("raw")}},
		{Key: "t", Value: protocol.Timestamp(math.MaxInt64)},
		{Key: "f", Value: math.NaN()},
		{Key: "g", Value: float32(0.5)},
		{Key: "z", Value: false},
		{Key: "n", Value: nil},
		{Key: "o", Value: protocol.Table{{Key: "k", Value: "v"}}},
	}
	const want = `{"a":[-1,200,-3.14,"raw"],"f":null,"g":0.5,"n":null,"o":{"k":"v"},"t":9223372036854775807,"z":true}`
	if got := string(jsonencode.Marshal(Object(table))); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestDecimalsAreShort(t *testing.T) {
	if got := string(jsonencode.Marshal(plain(protocol.Decimal{Scale: 255, Value: -7}))); got != "-7e-255" {
		t.Error(got)
	}
	if got := string(jsonencode.Marshal(plain(protocol.Decimal{Scale: 3, Value: -7}))); got != "-0.007" {
		t.Error(got)
	}
}
