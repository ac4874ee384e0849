package message

import (
	"reflect"
	"strings"
	"testing"

	"candlemark/protocol"
)

// TestAmended_LOCK2: the newest value of a name is kept, x-death cannot be set, amendments that exceed MaxAmended are
// ignored as a whole, and stored amendments are restored, also after a death.
func TestAmended_LOCK2(t *testing.T) {
	field := func(key string, value any) protocol.Table { return protocol.Table{{Key: key, Value: value}} }
	var none *Overlay
	if none.Amended(nil, nil) != nil || none.Extra() != 0 {
		t.Error("something of nothing")
	}
	o := none.Amended(field("x-opt-a", "1"), field("p", int64(1))).Amended(field("x-death", "forged"), field("p", int64(2)))
	if len(o.Annotations) != 1 || len(o.Properties) != 1 || o.Properties[0].Value != int64(2) {
		t.Fatalf("%+v", o)
	}
	if o.Amended(nil, field("long", strings.Repeat("x", MaxAmended))) != o || o.Amended(nil, field("odd", struct{}{})) != o {
		t.Error("it has no bound")
	}
	dead := o.Died(Death{Queue: "q", Reason: "rejected", Time: 7})
	for _, x := range []*Overlay{o, dead} {
		stored := x.Append(nil)
		again, err := DecodeOverlay(stored)
		if err != nil || !reflect.DeepEqual(again, x) || again.Extra() == 0 {
			t.Errorf("%+v, %v, not %+v", again, err, x)
		}
		for n := 1; n < len(stored); n++ {
			if _, err := DecodeOverlay(stored[:n]); err == nil {
				t.Fatalf("%d of %d bytes are an overlay", n, len(stored))
			}
		}
	}
	raw := protocol.Properties{Flags: protocol.FlagHeaders, Headers: field("p", "own")}.Append(nil)
	header, err := o.Header(raw)
	if err != nil {
		t.Fatal(err)
	}
	p, err := protocol.DecodeProperties(header)
	if err != nil || !reflect.DeepEqual(p.Headers, append(field("p", int64(2)), field("x-opt-a", "1")...)) {
		t.Errorf("%v, %v", p.Headers, err)
	}
}

// TestTyped_LOCK2: encodings of AMQP 1.0 count towards MaxAmended, are stored with their values, and do not appear in headers.
func TestTyped_LOCK2(t *testing.T) {
	field := func(key string, value any) protocol.Table { return protocol.Table{{Key: key, Value: value}} }
	typed := func(n int) Typed { return Typed{Value: int64(7), Encoded: make([]byte, n)} }
	var none *Overlay
	o := none.Amended(append(field("x-a", "1"), field("x-b", typed(3))...), append(field("p", typed(2)), field("q", nil)...))
	stored := o.Append(nil)
	again, err := DecodeOverlay(stored)
	if err != nil || !reflect.DeepEqual(again, o) {
		t.Errorf("%+v, %v, not %+v", again, err, o)
	}
	for n := 1; n < len(stored); n++ {
		if _, err := DecodeOverlay(stored[:n]); err == nil {
			t.Fatalf("%d of %d bytes are an overlay", n, len(stored))
		}
	}
	if plain := none.Amended(field("x-a", int64(7)), nil); o.Extra() <= plain.Extra() || len(o.addTo(nil)) != 4 || !reflect.DeepEqual(plain.addTo(nil), none.Amended(field("x-a", typed(9)), nil).addTo(nil)) {
		t.Errorf("%d and %d bytes, headers %v", o.Extra(), plain.Extra(), o.addTo(nil))
	}
	if o.Amended(nil, field("long", typed(MaxAmended))) != o {
		t.Error("encodings have no bound")
	}
	if o = o.Amended(field("x-b", "plain"), field("p", "plain")); o.typed() {
		t.Errorf("%+v keeps what was replaced", o)
	}
}

// TestExtra_PRO22: routing keys besides the message's own count as memory, also in the history of the message.
func TestExtra_PRO22(t *testing.T) {
	keys := make([]string, 1000)
	o := &Overlay{BCC: keys, CC: []string{strings.Repeat("x", 5000)}}
	if n := o.Extra(); n < 21_000 || n > 22_000 {
		t.Errorf("%d bytes", n)
	}
	dead := o.Died(Death{Queue: "q", Reason: "expired", RoutingKeys: keys})
	if n := dead.Extra(); n < 37_000 || n > 38_000 {
		t.Errorf("%d bytes once it is dead", n)
	}
}
