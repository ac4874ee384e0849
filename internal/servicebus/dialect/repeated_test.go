package dialect_test

import (
	"bytes"
	"reflect"
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// varied are messages that partly differ only in one section, in the content of the body, or in its kind or size.
func varied(tb testing.TB) (all [][]byte) {
	tb.Helper()
	section := func(code uint64, m amqp10.Map) []byte {
		b, err := amqp10.Append(amqp10.AppendDescriptor(nil, code), m)
		if err != nil {
			tb.Fatal(err)
		}
		return b
	}
	bodies := [][]byte{
		append(amqp10.AppendDataHead(nil, 3), "abc"...), append(amqp10.AppendDataHead(nil, 3), "xyz"...), append(amqp10.AppendDataHead(nil, 4), "abcd"...),
		amqp10.AppendDataHead(nil, 0),
		append(append(amqp10.AppendDataHead(nil, 1), 'a'), append(amqp10.AppendDataHead(nil, 1), 'b')...),
		append(amqp10.AppendDescriptor(nil, amqp10.SectionValue), 0xa1, 3, 'a', 'b', 'c'),
		append(amqp10.AppendDescriptor(nil, amqp10.SectionValue), 0xa1, 3, 'a', 'b', 0xff), // invalid text
	}
	footer := section(amqp10.SectionFooter, amqp10.Map{{Key: amqp10.Symbol("f"), Value: int32(1)}})
	for _, head := range [][]byte{
		nil,
		amqp10.AppendComposite(nil, &amqp10.Header{Durable: true, TTL: amqp10.Some[uint32](5000)}),
		amqp10.AppendComposite(nil, &amqp10.Header{Durable: true, TTL: amqp10.Some[uint32](6000)}),
		section(amqp10.SectionMessageAnnotations, amqp10.Map{{Key: amqp10.Symbol("x-cc"), Value: amqp10.List{"k"}}, {Key: amqp10.Symbol("x-opt-scheduled-enqueue-time"), Value: amqp10.Timestamp(9)}}),
		amqp10.AppendComposite(nil, &amqp10.Properties{MessageID: amqp10.AppendString(nil, "1"), To: amqp10.Text("/queues/q"), UserID: []byte("u")}),
		amqp10.AppendComposite(nil, &amqp10.Properties{MessageID: amqp10.AppendString(nil, "2"), To: amqp10.Text("/queues/q"), UserID: []byte("u")}),
		section(amqp10.SectionApplicationProperties, amqp10.Map{{Key: "x", Value: string(make([]byte, 2000))}}), // larger than the maximum that is compared
	} {
		for _, body := range bodies {
			all = append(all, append(head[:len(head):len(head)], body...))
		}
		all = append(all, append(append(head[:len(head):len(head)], bodies[0]...), footer...))
	}
	return all
}

// The cached translation of one message does not leak into another: each is translated as if it were the only one.
func TestRepeated(t *testing.T) {
	messages := varied(t)
	for _, entity := range []bool{false, true} {
		for _, before := range messages {
			for _, encoded := range messages {
				var r dialect.Reader
				_, _ = r.Read(before, entity)
				sameRead(t, &r, encoded, entity)
				sameRead(t, &r, encoded, entity)
			}
		}
	}
	var w dialect.Writer
	for _, before := range messages {
		for _, encoded := range messages {
			sameAppended(t, &w, before, message.Message{RoutingKey: []byte("q")}, false)
			sameAppended(t, &w, encoded, message.Message{RoutingKey: []byte("q")}, false)
			sameAppended(t, &w, encoded, message.Message{RoutingKey: []byte("q")}, true)
			sameAppended(t, &w, encoded, message.Message{Exchange: []byte("q")}, true)
			sameAppended(t, &w, encoded, message.Message{Exchange: []byte("q"), Overlay: &message.Overlay{DeliveryCount: 3}}, true)
			sameAppended(t, &w, encoded, message.Message{Exchange: []byte("q"), RoutingKey: []byte("k")}, true)
		}
	}
}

func FuzzRepeated(f *testing.F) {
	all := varied(f)
	for i := range all[1:] {
		f.Add(all[i], all[i+1])
	}
	f.Fuzz(func(t *testing.T, before, encoded []byte) {
		var r dialect.Reader
		var w dialect.Writer
		_, _ = r.Read(before, false)
		sameRead(t, &r, encoded, false)
		sameRead(t, &r, encoded, false)
		sameAppended(t, &w, before, message.Message{}, false)
		sameAppended(t, &w, encoded, message.Message{}, false)
		sameAppended(t, &w, encoded, message.Message{}, false)
	})
}

func sameRead(t *testing.T, r *dialect.Reader, encoded []byte, entity bool) {
	t.Helper()
	want, wantErr := dialect.Read(encoded, entity)
	got, err := r.Read(encoded, entity)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%x: %v, want %v", encoded, err, wantErr)
	}
	if entity && !bytes.Contains(encoded, []byte{0, 0x53, byte(amqp10.SectionProperties)}) { // the message ID is random
		got.Header, got.Headers, want.Header, want.Headers = nil, nil, nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%x: %+v, want %+v", encoded, got, want)
	}
}

func sameAppended(t *testing.T, w *dialect.Writer, encoded []byte, m message.Message, redelivered bool) {
	t.Helper()
	c, err := dialect.Read(encoded, false)
	if err != nil {
		return
	}
	m.Header, m.Body = c.Header, c.Body
	want, wantBody, _ := dialect.Append(nil, &m, dialect.Outgoing{Redelivered: redelivered})
	got, body, err := w.Append([]byte("before"), &m, dialect.Outgoing{Redelivered: redelivered})
	if err != nil || string(got) != "before"+string(want) || !bytes.Equal(body, wantBody) {
		t.Fatalf("%x: %x and %x, %v, want %x and %x", encoded, got, body, err, want, wantBody)
	}
}

// Messages of 0-9-1 whose bodies are encoded sections of AMQP 1.0 are distinguished by their bodies.
func TestRepeatedSections(t *testing.T) {
	var p protocol.Properties
	p.Type, p.Flags = "amqp-1.0", protocol.FlagType
	var w dialect.Writer
	for _, body := range []string{"\x00\x53\x77\xa1\x01a", "no such", "\x00\x53\x77\xa1\x01b", "\x00\x53\x77\xa1\x01\xff"} {
		m := message.Message{Header: p.Append(nil), Body: []byte(body)}
		want, wantBody, _ := dialect.Append(nil, &m, dialect.Outgoing{})
		if got, gotBody, err := w.Append(nil, &m, dialect.Outgoing{}); err != nil || !bytes.Equal(got, want) || !bytes.Equal(gotBody, wantBody) {
			t.Errorf("%x: %x and %x, %v, want %x and %x", body, got, gotBody, err, want, wantBody)
		}
	}
}

// TestRepeatedAllocates: links with low handles translate repeated heads without an allocation; other links cache
// nothing and allocate for each message.
func TestRepeatedAllocates(t *testing.T) {
	for handle, remembers := range map[uint32]bool{0: true, 15: true, 16: false, 1 << 31: false} {
		if n := allocations(t, dialect.NewReader(handle), dialect.NewWriter(handle)); remembers != (n == 0) {
			t.Errorf("handle %d: %v allocations", handle, n)
		}
	}
}

// allocations returns the average number of allocations of a message that is read and appended.
func allocations(t *testing.T, r dialect.Reader, w dialect.Writer) float64 {
	t.Helper()
	properties := amqp10.AppendComposite(nil, &amqp10.Properties{To: amqp10.Text("/queues/q"), ContentType: amqp10.SymbolText("text/plain")})
	encoded := append(amqp10.AppendDataHead(properties, 3), "abc"...)
	var head []byte
	m, n := &message.Message{RoutingKey: []byte("q")}, 0
	return testing.AllocsPerRun(100, func() {
		n++
		encoded[len(encoded)-1] = byte(n)
		c, err := r.Read(encoded, false)
		if err != nil || c.Body[2] != byte(n) {
			t.Fatal(c.Body, err)
		}
		m.Header, m.Body = c.Header, c.Body
		var body []byte
		if head, body, err = w.Append(head[:0], m, dialect.Outgoing{}); err != nil || &body[0] != &c.Body[0] {
			t.Fatal(err)
		}
	})
}
