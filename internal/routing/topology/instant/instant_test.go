package instant

import (
	"math"
	"testing"

	"candlemark/protocol"
)

// TestInstant_TTL5_DLY2 parses every form of a time in a header.
func TestInstant_TTL5_DLY2(t *testing.T) {
	const ms = 1_800_000_000_000 // 2027-01-15T08:00:00Z
	for _, tt := range []struct {
		name string
		v    any
		want int64
		ok   bool
	}{
		{"AMQP timestamp in s", protocol.Timestamp(ms / 1000), ms, true},
		{"timestamp that overflows", protocol.Timestamp(math.MaxUint64), 0, false},
		{"long", int64(ms), ms, true},
		{"int", int32(5), 5, true},
		{"before 1970", int64(-5), -5, true},
		{"long beyond all", int64(math.MaxInt64), 0, false},
		{"double", float64(ms) + 0.9, ms, true},
		{"no number", math.NaN(), 0, false},
		{"infinite", math.Inf(1), 0, false},
		{"ms as text", "1800000000000", ms, true},
		{"RFC 3339", "2027-01-15T08:00:00Z", ms, true},
		{"RFC 3339 with ms and offset", "2027-01-15T09:30:00.250+01:30", ms + 250, true},
		{"Celery's with μs", "2027-01-15T08:00:00.123456+00:00", ms + 123, true},
		{"without offset", "2027-01-15T08:00:00.5", ms + 500, true},
		{"a blank for the T", "2027-01-15 08:00:00Z", ms, true},
		{"date only", "2027-01-15", 0, false},
		{"empty", "", 0, false},
		{"text", "tomorrow", 0, false},
		{"blank around", " 1800000000000", 0, false},
		{"nothing", nil, 0, false},
		{"bool", true, 0, false},
		{"table", protocol.Table{}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := Parse(tt.v); got != tt.want || ok != tt.ok {
				t.Errorf("%d, %v, want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
