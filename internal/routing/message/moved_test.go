package message

import "testing"

// TestMoved: hops are counted across deaths until a consumer rejects the message, and do not appear in headers.
func TestMoved(t *testing.T) {
	o := (*Overlay)(nil).Moved().Moved()
	raw := []byte{0, 0}
	if got, err := o.Header(raw); err != nil || &got[0] != &raw[0] || o.Hops != 2 {
		t.Errorf("%x, %v after %d", got, err, o.Hops)
	}
	o = o.Died(Death{Queue: "q", Reason: "expired"})
	if o = o.Moved(); o.Hops != 3 || !o.Dead() || !o.Undated() {
		t.Errorf("%+v", o)
	}
	if o = o.Died(Death{Queue: "q", Reason: "rejected"}); o.Hops != 0 {
		t.Errorf("rejected: %d", o.Hops)
	}
}
