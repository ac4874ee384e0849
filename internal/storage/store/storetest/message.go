package storetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

// epoch is the time of the first messages, wall ms.
const epoch = 1_700_000_000_000

// Put returns the record of a message: queue and number decide everything in it except the size of its body in bytes.
// It may be appended to other queues as well: its time identifies the original queue (Origin).
func Put(q store.QueueID, seq uint64, body int) store.Record {
	r := store.Record{
		Kind: store.Put, Time: epoch + int64(q)*1000 + int64(seq%1000), First: seq, Last: seq,
		Exchange: fmt.Appendf(nil, "exchange.%d", q), RoutingKey: fmt.Appendf(nil, "key.%d", seq),
		Header: Body(^q, seq, 14+int(seq%50)), Body: Body(q, seq, body),
		Deadline: store.Never, TTL: -1, Priority: uint8(seq),
	}
	if seq%2 == 0 {
		r.Deadline, r.TTL = r.Time+int64(seq%100_000), int64(seq%100_000)
	}
	if seq%3 == 0 {
		r.Overlay = Body(q+1, seq, 1+int(seq%300))
	}
	r.Note = seq%11 == 0
	if seq%7 == 0 {
		r.Exchange = nil
	}
	if seq%5 == 0 {
		r.Due = r.Time + int64(seq%1000)
		r.Header = protocol.Properties{Flags: protocol.FlagMessageID, MessageID: fmt.Sprint("id", seq)}.Append(nil)
	}
	return r
}

// Origin returns the queue that a message with time at was made for.
func Origin(at int64) store.QueueID { return store.QueueID((at - epoch) / 1000) }

// Spill returns the same for a message that a restart forgets.
func Spill(q store.QueueID, seq uint64, body int) store.Record {
	r := Put(q, seq, body)
	r.Kind = store.Spill
	return r
}

// Was returns the record that was appended for a surviving message.
func Was(m store.Recovered, kind store.Kind) store.Record {
	r := Put(Origin(m.Time), m.Seq, int(m.Body))
	r.Kind = kind
	return r
}

// Body returns bytes that belong to a message.
func Body(q store.QueueID, seq uint64, size int) []byte {
	random := rand.NewPCG(uint64(q), seq)
	b := make([]byte, 0, size+8)
	for len(b) < size {
		b = binary.LittleEndian.AppendUint64(b, random.Uint64())
	}
	return b[:size]
}

// Same describes how a message read back differs from the appended one, "" if it does not.
func Same(got store.Content, want store.Record) string {
	if got.Err != nil {
		return fmt.Sprintf("message %d: %v", got.Seq, got.Err)
	}
	r := got.Record
	for _, part := range []struct {
		name      string
		got, want []byte
	}{
		{"exchange", r.Exchange, want.Exchange},
		{"routing key", r.RoutingKey, want.RoutingKey},
		{"header", r.Header, want.Header},
		{"overlay", r.Overlay, want.Overlay},
		{"body", r.Body, want.Body},
	} {
		if !bytes.Equal(part.got, part.want) {
			return fmt.Sprintf("message %d: %s of %d bytes differs from what was written (%d bytes)", want.First, part.name, len(part.got), len(part.want))
		}
	}
	for _, part := range []struct {
		name      string
		got, want any
	}{
		{"number of the content", got.Seq, want.First},
		{"kind", r.Kind, want.Kind},
		{"first", r.First, want.First},
		{"last", r.Last, want.First},
		{"time", r.Time, want.Time},
		{"deadline", r.Deadline, want.Deadline},
		{"ttl", r.TTL, want.TTL},
		{"note", r.Note, want.Note},
		{"priority", r.Priority, want.Priority},
	} {
		if part.got != part.want {
			return fmt.Sprintf("message %d: %s is %v, not %v", want.First, part.name, part.got, part.want)
		}
	}
	if r.Position == 0 {
		return fmt.Sprintf("message %d: no position", want.First)
	}
	return ""
}
