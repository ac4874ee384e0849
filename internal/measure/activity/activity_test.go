package activity

import "testing"

func TestWorks(t *testing.T) {
	w := &Works{}
	w.Begin()
	w.Begin()
	w.End()
	if w.Open() != 1 {
		t.Error(w.Open())
	}
	var none *Works
	none.Begin()
	none.End()
	if none.Open() != 0 {
		t.Error("nil counts")
	}
}
