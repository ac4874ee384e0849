package assembler

import (
	"testing"

	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Memory grows with the body bytes received, not with the size that the content header announces.
func TestAssembler_MemoryFollowsWhatCame(t *testing.T) {
	var a Assembler
	method := protocol.AppendMethodFrame(nil, 1, &protocol.BasicPublish{})
	if err := a.Method(method[7 : len(method)-1]); err != nil {
		t.Fatal(err)
	}
	header := protocol.AppendHeaderFrame(nil, 1, 16<<20, []byte{0, 0})
	if err := a.Header(protocol.Frame{Type: 2, Channel: 1, Payload: header[7 : len(header)-1]}, 16<<20); err != nil {
		t.Fatal(err)
	}
	for sent := 0; sent < 1<<20; sent += 4000 {
		if err := a.Body(protocol.Frame{Type: 3, Channel: 1, Payload: make([]byte, 4000)}); err != nil {
			t.Fatal(err)
		}
		if cap(a.Content) > 5*(sent+4000) {
			t.Fatalf("%d bytes came, %d are kept", sent+4000, cap(a.Content))
		}
	}
}
