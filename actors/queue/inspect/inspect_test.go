package inspect

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/internal/storage/store"
)

// TestLowest: the lowest numbers are kept, in order, with few others.
func TestLowest(t *testing.T) {
	l := lowest[int]{limit: 3, compare: cmp.Compare[int]}
	for _, n := range rand.New(rand.NewPCG(1, 0)).Perm(1000) {
		if l.add(n); len(l.kept) > 2*3+64 {
			t.Fatalf("%d kept", len(l.kept))
		}
	}
	if got := l.list(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Error(got)
	}
}

// TestFound: contents are read in journal order, and assigned to their messages; removed messages are left out.
func TestFound(t *testing.T) {
	b := &backlog.Backlog{}
	var m missing
	list := []string{"a", "b", "c"}
	for i, place := range []uint64{30, 10, 20} {
		m.add(b, b.PushPaged(&backlog.Record{Seq: uint64(i + 1)}, 0, place), i)
	}
	contents := make([]store.Content, 3)
	for i, ref := range m.refs() {
		contents[i].Seq = ref.Seq
	}
	contents[1].Err = store.ErrUnknown // the one at place 20
	list = found(m, list, contents, func(s *string, c *store.Content) { *s += string(rune('0' + c.Seq)) })
	if !slices.Equal(list, []string{"a1", "b2"}) {
		t.Error(list)
	}
}
