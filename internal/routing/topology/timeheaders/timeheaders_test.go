package timeheaders

import (
	"math"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/measure/clock"
	"candlemark/protocol"
)

// TestDueOf_DLY8_DLY10 reads headers with times, and checks that invalid ones are refused.
func TestDueOf_DLY8_DLY10(t *testing.T) {
	const now = 1_800_000_000_000 // 2027-01-15T08:00:00Z
	type pairs = []any
	for _, tt := range []struct {
		name    string
		headers pairs
		more    string
		skew    int64
		at      int64 // from now
		dated   bool
		refused string
	}{
		{name: "nothing", headers: pairs{"a", int32(1)}},
		{name: "x-delay", headers: pairs{"x-delay", int32(5000)}, at: 5000},
		{name: "x-delay as text", headers: pairs{"x-delay", "7"}, at: 7},
		{name: "x-delay of one that was held", headers: pairs{"x-delay", int64(-5000)}},
		{name: "x-delay that is none", headers: pairs{"x-delay", true}},
		{name: "x-delay, wrong", headers: pairs{"x-delay", "soon"}, refused: "invalid header 'x-delay': 'soon' is not an integer"},
		{name: "x-delay, too long", headers: pairs{"x-delay", int64(MaxDelay + 1)}, refused: "invalid header 'x-delay'"},
		{name: "x-deliver-at as timestamp", headers: pairs{"x-deliver-at", protocol.Timestamp(now/1000 + 60)}, at: 60_000, dated: true},
		{name: "x-deliver-at in ms", headers: pairs{"x-deliver-at", int64(now + 1)}, at: 1, dated: true},
		{name: "x-deliver-at in ms as text", headers: pairs{"x-deliver-at", "1800000000002"}, at: 2, dated: true},
		{name: "x-deliver-at in RFC 3339", headers: pairs{"x-deliver-at", "2027-01-15T09:00:00.250+01:00"}, at: 250, dated: true},
		{name: "never early by a part of a ms", headers: pairs{"x-deliver-at", "2027-01-15T08:00:00.250001+00:00"}, at: 251, dated: true},
		{name: "six digits of ms", headers: pairs{"x-deliver-at", "2027-01-15T08:00:00.250000Z"}, at: 250, dated: true},
		{name: "a double", headers: pairs{"x-deliver-at", float64(now) + 10.5}, at: 11, dated: true},
		{name: "the past", headers: pairs{"x-deliver-at", "2020-01-01T00:00:00Z"}},
		{name: "now", headers: pairs{"x-deliver-at", int64(now)}},
		{name: "without a value", headers: pairs{"x-deliver-at", nil}},
		{name: "in seconds", headers: pairs{"x-deliver-at", int64(now / 1000)}, refused: "invalid header 'x-deliver-at': 1800000000 is before 1973"},
		{name: "no time", headers: pairs{"x-deliver-at", "tomorrow"}, refused: "invalid header 'x-deliver-at': 'tomorrow' is not a time"},
		{name: "no time either", headers: pairs{"x-deliver-at", true}, refused: "invalid header 'x-deliver-at': 'true' is not a time"},
		{name: "far", headers: pairs{"x-deliver-at", "2040-01-01T00:00:00Z"}, refused: "is more than 10 years away"},
		{name: "farther", headers: pairs{"x-deliver-at", int64(math.MaxInt64)}, refused: "is not a time"},
		{name: "Celery's", headers: pairs{"eta", "2027-01-15T08:00:01.000000"}, more: "eta", at: 1000, dated: true},
		{name: "Celery's without", headers: pairs{"eta", nil, "x-delay", int32(3)}, more: "eta", at: 3},
		{name: "Celery's, not asked for", headers: pairs{"eta", "2027-01-15T08:00:01.000000"}},
		{name: "another header, wrong", headers: pairs{"a%s", "x"}, more: "a%s", refused: "invalid header 'a%s': 'x' is not a time"},
		{name: "the latest counts", headers: pairs{"x-delay", int32(9), "x-deliver-at", int64(now + 5), "eta", int64(now + 7)}, more: "eta", at: 9},
		{name: "the latest date", headers: pairs{"x-delay", int32(6), "x-deliver-at", int64(now + 5), "eta", int64(now + 7)}, more: "eta", at: 7, dated: true},
		{name: "dates by the wall clock", headers: pairs{"x-deliver-at", int64(now + 500)}, skew: 400, at: 100, dated: true},
		{name: "delays by none", headers: pairs{"x-delay", int32(50)}, skew: 400, at: 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var table protocol.Table
			for i := 0; i < len(tt.headers); i += 2 {
				table = append(table, protocol.Field{Key: tt.headers[i].(string), Value: tt.headers[i+1]})
			}
			raw := protocol.Properties{Flags: protocol.FlagHeaders, Headers: table}.Append(nil)
			scan, err := protocol.ScanProperties(raw)
			if err != nil {
				t.Fatal(err)
			}
			dates := clock.Ahead(tt.skew)
			due, err := DueOf(scan.Headers, tt.more, now, &dates)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("%v, want %s", err, tt.refused)
				}
				return
			}
			want := Due{}
			if tt.at != 0 {
				want = Due{now + tt.at, tt.dated}
			}
			if err != nil || due != want {
				t.Errorf("%+v, %v, want %+v", due, err, want)
			}
		})
	}
}

// TestSchedules_DLY8: publishers read the setting without asking the queue.
func TestSchedules_DLY8(t *testing.T) {
	var none *Schedules
	if none.Config() != nil {
		t.Error("nil looks at headers")
	}
	var s Schedules
	for _, tt := range []struct {
		m       Config
		refuses []string
	}{
		{Config{}, nil},
		{Config{Schedules: true}, []string{"x-deliver-at", "x-delay"}},
		{Config{Schedules: true, DeliverAt: "eta"}, []string{"x-deliver-at", "x-delay", "eta"}},
		{Config{DeliverAt: "eta", ExpiresAt: "expires"}, []string{"expires"}},
		{Config{Schedules: true, DeliverAt: "eta", ExpiresAt: "expires"}, []string{"x-deliver-at", "x-delay", "eta", "expires"}},
		{Config{}, nil},
	} {
		s.Set(tt.m)
		for _, name := range []string{"x-deliver-at", "x-delay", "eta", "expires", "other"} {
			var err error
			if m := s.Config(); m != nil {
				err = m.Check(raw(t, name, "soon"), 1_800_000_000_000, &clock.Dates{})
			}
			if (err != nil) != slices.Contains(tt.refuses, name) {
				t.Errorf("%+v: %s: %v", tt.m, name, err)
			}
		}
	}
}

// raw returns an encoded table with one header.
func raw(t *testing.T, name string, v any) []byte {
	t.Helper()
	table, err := protocol.AppendTable(nil, protocol.Table{{Key: name, Value: v}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestExpiryOf_TTL5: an expiry is never early, may be arbitrarily far away, and is converted from the wall clock.
func TestExpiryOf_TTL5(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want int64
		ok   bool
		text string
	}{
		{v: int64(1_800_000_000_000), want: 1_799_999_999_000, ok: true},
		{v: "2027-01-15T08:00:00.0001Z", want: 1_799_999_999_001, ok: true},
		{v: "9999-12-31T23:59:59Z", want: 253_402_300_798_000, ok: true},
		{v: int64(-1), want: -1001, ok: true},
		{v: nil},
		{v: "soon", text: "'soon' is not a time"},
		{v: int64(1_800_000_000), text: "before 1973"},
	} {
		dates := clock.Ahead(1000)
		at, ok, err := ExpiryOf(raw(t, "e", tt.v), "e", &dates)
		if ok != tt.ok || ok && at != tt.want || (err != nil) != (tt.text != "") || err != nil && !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%v: %d, %v, %v", tt.v, at, ok, err)
		}
	}
}
