package records

import (
	"errors"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
)

// TestGate_CLU16: mail goes out in order, when the end of all Appends before it is reported, and never after the node has lost its office.
func TestGate_CLU16(t *testing.T) {
	var sent []string
	send := func(p mail.Post) { sent = append(sent, p.Mail.(string)) }
	var g Gate
	post := func(text string) {
		g.Send(&mail.Posts{{Mail: text}}, 0, nil, send)
	}
	want := func(texts ...string) {
		t.Helper()
		if !slices.Equal(sent, texts) {
			t.Errorf("sent %v, want %v", sent, texts)
		}
		sent = nil
	}
	post("a")
	want("a")
	g.Appended()
	post("b")
	g.Appended()
	post("c")
	post("d")
	want()
	g.Ended(nil, send)
	want("b")
	if g.Open() || g.Held() != 2 {
		t.Errorf("%d held", g.Held())
	}
	g.Ended(errors.New("the record is too large"), send) // on all nodes
	want("c", "d")
	post("e")
	want("e")
	if !g.Open() || g.Held() != 0 {
		t.Errorf("%d held", g.Held())
	}
	g.Appended()
	post("f")
	post("g")
	g.Ended(errors.Join(store.ErrLost, errors.New("leadership lost")), send)
	post("h")
	want()
}
