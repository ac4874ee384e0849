package protocol

import (
	"bytes"
	"testing"
)

// Only the reply-to changes, beside any other properties.
func TestReplaceReplyTo(t *testing.T) {
	p := Properties{
		ContentType: "text/plain", ContentEncoding: "gzip", Headers: Table{{Key: "z", Value: int64(1)}, {Key: "a", Value: "b"}},
		DeliveryMode: 2, Priority: 9, CorrelationID: "c", ReplyTo: "old", Expiration: "60", MessageID: "m", Timestamp: 5, Type: "t",
		UserID: "u", AppID: "a", ClusterID: "cl",
	}
	for flags := uint32(0); flags < 1<<14; flags++ {
		p.Flags = uint16(flags<<2) | FlagReplyTo
		p.ReplyTo = "old"
		raw := p.Append(nil)
		before := bytes.Clone(raw)
		p.ReplyTo = "the new name"
		if got, want := ReplaceReplyTo(raw, p.ReplyTo), p.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("flags %x: %x, want %x", p.Flags, got, want)
		}
		if !bytes.Equal(raw, before) {
			t.Fatal("the original was changed")
		}
	}
}
