package message

import (
	"errors"
	"math"
	"reflect"
	"testing"
)

// overlays returns overlays of every kind.
func overlays() []*Overlay {
	dead := (&Overlay{CC: []string{"a", ""}, BCC: []string{"b"}}).Died(Death{
		Queue: "q", Reason: "expired", Exchange: "x", RoutingKeys: []string{"k", "a"}, Time: 1_800_000_000, OriginalExpiration: "10",
	})
	return []*Overlay{
		nil,
		{},
		{DropExpiration: true},
		{AddDeathCount: true},
		{DropExpiration: true, AddDeathCount: true},
		{DeliveryCount: math.MaxUint32},
		{CC: []string{""}},
		{Delayed: 315_360_000_000, AddDeathCount: true},
		{Held: true},
		{Hops: 4},
		{Copied: true},
		{Answerable: true, Held: true},
		{Copied: true, Copies: math.MaxUint32, Failed: 2},
		{DiedAfter: math.MaxUint32},
		{DiedAfter: 1, Hops: 4, Delayed: 7},
		{Failed: math.MaxUint32, DiedAfter: 3},
		{Hops: 1, Delayed: 5, Held: true},
		dead.Released(7).Died(Death{Queue: "r"}),
		dead,
		dead.Died(Death{Queue: "r", Reason: "rejected"}).Died(Death{Queue: "q", Reason: "expired"}),
		{DeliveryCount: 3},
		{Deaths: []Death{{Count: -1, Time: math.MinInt64}}, First: Origin{Queue: "f"}, Last: Origin{Reason: "l"}},
	}
}

func TestStoredOverlay(t *testing.T) {
	for i, o := range overlays() {
		stored := o.Append([]byte("before"))[len("before"):]
		got, err := DecodeOverlay(stored)
		if err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("%d: %+v, %v, want %+v", i, got, err, o)
		}
		for n := 1; n < len(stored); n++ {
			if _, err := DecodeOverlay(stored[:n]); !errors.Is(err, ErrOverlay) {
				t.Errorf("%d cut at %d: %v", i, n, err)
			}
		}
		if len(stored) > 0 {
			if _, err := DecodeOverlay(append(stored[:len(stored):len(stored)], 0)); !errors.Is(err, ErrOverlay) {
				t.Errorf("%d with more behind it: %v", i, err)
			}
		}
	}
	if _, err := DecodeOverlay([]byte{overlayVersion + 1, 0, 0, 0}); !errors.Is(err, ErrOverlay) {
		t.Errorf("later version: %v", err)
	}
}

func FuzzDecodeOverlay(f *testing.F) {
	for _, o := range overlays() {
		f.Add(o.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := DecodeOverlay(data)
		if err != nil {
			return
		}
		again, err := DecodeOverlay(o.Append(nil))
		if err != nil || !reflect.DeepEqual(again, o) {
			t.Fatalf("%+v, %v, want %+v", again, err, o)
		}
	})
}
