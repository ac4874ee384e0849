package message

import "testing"

func TestReturnsEndAtTheirBound_DL9(t *testing.T) {
	var r Returns
	for range 70_000 {
		r.Fail()
	}
	if r.Failed() != 65_535 || r.All() != 65_535 || r.Fail() {
		t.Errorf("%d of %d", r.Failed(), r.All())
	}
	for range 70_000 {
		r.GiveBack()
	}
	if r.Failed() != 65_535 || r.All() != 2*65_535 || r.GiveBack() {
		t.Errorf("%d of %d", r.Failed(), r.All())
	}
}
