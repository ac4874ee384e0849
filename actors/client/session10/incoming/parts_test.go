package incoming

import (
	"bytes"
	"fmt"
	"testing"

	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A message received in parts takes hardly more memory than is counted, both incomplete and complete, since a queue keeps it
// unchanged.
func TestParts_Memory(t *testing.T) {
	for _, c := range []struct{ whole, frame int }{
		{135_000, 131_000}, {1 << 20, 131_000}, {1<<20 + 1, 1 << 19}, {300_000, 400}, {5000, 1}, {100, 60}, {2, 1}, {3 << 20, 1 << 20},
	} {
		t.Run(fmt.Sprint(c.whole, " in ", c.frame), func(t *testing.T) {
			message := make([]byte, c.whole)
			for i := range message {
				message[i] = byte(i % 251)
			}
			l := &Link{Credit: 1, MaxMessageSize: 1 << 30}
			id := amqp10.Some(uint32(0))
			var d Publishing
			for at, whole := 0, false; !whole; at += c.frame {
				end := min(at+c.frame, c.whole)
				var err error
				if d, whole, err = l.Take(&amqp10.Transfer{DeliveryID: id, More: end < c.whole}, message[at:end], nil); err != nil {
					t.Fatal(err)
				}
				held := 0
				for _, part := range l.parts.list {
					held += cap(part)
				}
				if slack := min(end, smallPart) + 64; held > end+slack && !whole {
					t.Fatalf("%d bytes of memory for %d", held, end)
				}
			}
			if !d.Owned || !bytes.Equal(d.Payload, message) {
				t.Fatal("it is not what was sent")
			}
			if cap(d.Payload) > c.whole+c.whole/8+16 {
				t.Errorf("%d bytes of memory for %d", cap(d.Payload), c.whole)
			}
		})
	}
}
