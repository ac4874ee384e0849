package content

import (
	"testing"

	"candlemark/protocol"
)

// TestScanned: properties are read once for a message, and again for the next one in the same bytes or after a rule's action.
func TestScanned(t *testing.T) {
	of := func(id string) []byte {
		return (&protocol.Properties{Flags: protocol.FlagMessageID, MessageID: id}).Append(nil)
	}
	var s Scanned
	want := func(header []byte, id string) {
		t.Helper()
		if got := string(s.Of(header).MessageID); got != id {
			t.Errorf("got %q, want %q", got, id)
		}
	}
	bytes := of("a")
	want(bytes, "a")
	first := s.Of(bytes)
	if s.Of(bytes) != first {
		t.Error("read twice")
	}
	want(of("b"), "b") // changed by an action
	want(bytes, "a")
	s.Next()
	want(nil, "")
	copy(bytes, of("c"))
	s.Next()
	want(bytes, "c")
	s.Next()
	want([]byte{0xff}, "")
}
