package message

import (
	"reflect"
	"strings"
	"testing"

	"candlemark/protocol"
)

// TestAmended_LOCK2: the newest under a name counts, nobody can claim a death, too much is left out as a whole, and all of it
// is there again when it was stored, also behind a death.
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
