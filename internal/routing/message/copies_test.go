package message

import "testing"

// TestCopies_DL32: the messages of a publish have together a limited number of further copies, and messages of a
// publish to very many queues have some each.
func TestCopies_DL32(t *testing.T) {
	for queues, want := range map[int]uint32{
		1: 16384, 2: 16384, 16: 16384, 17: 8192, 100: 2048, 128: 2048, 129: 1024, 10_000: 16, 1_000_000: 16, 1 << 40: 16,
	} {
		m := Message{Spread: SpreadOf(queues)}
		if got := m.Copies(); got != want || queues <= 1<<14 && int64(got)*int64(queues) > CopyLimit {
			t.Errorf("%d queues: %d copies each, want %d", queues, got, want)
		}
	}
	m := Message{}
	for range 100 {
		m.AddSpread(1000)
	}
	if m.Copies() != leastShare || m.Spread != 63 {
		t.Errorf("%d copies, spread %d", m.Copies(), m.Spread)
	}
	m.Overlay = m.Overlay.WithCopies(7)
	if m.Copies() != 7 {
		t.Error(m.Copies())
	}
}

// TestShareOf_DL32: a copy to one queue costs nothing; all other copies are subtracted, and the rest is divided.
func TestShareOf_DL32(t *testing.T) {
	for _, row := range []struct {
		copies uint32
		queues int
		each   uint32
		ok     bool
	}{
		{0, 1, 0, true},
		{5, 1, 5, true},
		{0, 2, 0, false},
		{1, 2, 0, true},
		{11, 2, 5, true},
		{10, 2, 4, true},
		{99, 100, 0, true},
		{98, 100, 0, false},
		{16384, 100, 162, true},
		{16, 1 << 30, 0, false},
	} {
		if each, ok := ShareOf(row.copies, row.queues); each != row.each || ok != row.ok {
			t.Errorf("%+v: %d, %v", row, each, ok)
		}
	}
}

// TestCopiesLast_DL32: the number of further copies is kept by everything that happens to a message, except a rejection
// by a consumer.
func TestCopiesLast_DL32(t *testing.T) {
	o := (&Overlay{CC: []string{"a"}}).WithCopies(3)
	for name, next := range map[string]*Overlay{
		"expired": o.Died(Death{Queue: "q", Reason: "expired"}), "limit": o.Died(Death{Queue: "q", Reason: "maxlen"}),
		"moved": o.Moved(), "released": o.Released(5), "counted": o.Counted(2), "failing": o.Failing(1),
		"continued": o.After(&Overlay{Deaths: []Death{{Queue: "p"}}}),
	} {
		if !next.Copied || next.Copies != 3 {
			t.Errorf("%s: %+v", name, next)
		}
	}
	if next := o.Died(Death{Queue: "q", Reason: "rejected"}); next.Copied || next.Copies != 0 {
		t.Errorf("rejected: %+v", next)
	}
}
