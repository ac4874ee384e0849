package dialect_test

import (
	"bytes"
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

func TestParseTarget(t *testing.T) {
	for address, want := range map[string]dialect.Target{
		"/queues/q": {Key: "q"}, "/queues/a%2Fb": {Key: "a/b"}, "/queues/a+b": {Key: "a+b"}, "/exchanges/x": {Exchange: "x"},
		"/exchanges/x/": {Exchange: "x"}, "/exchanges/x/a%20b.c": {Exchange: "x", Key: "a b.c"},
	} {
		if got, err := dialect.ParseTarget(address); got != want || err != nil {
			t.Errorf("%s: %+v %v", address, got, err)
		}
	}
	for _, address := range []string{"", "q", "/queues", "/queues/", "/queues/a/b", "/queues/%", "/queues/%ff", "/exchanges/", "/exchanges//k", "/exchanges/amq.default/k", "/exchanges/x/k/l", "/management"} {
		if got, err := dialect.ParseTarget(address); err == nil {
			t.Errorf("%s: %+v", address, got)
		}
	}
}

// The bare message is forwarded byte for byte after the broker's sections, with types and properties that 0-9-1 does
// not have, and with a footer, even one as long as the body.
func TestBareMessage(t *testing.T) {
	footer, err := amqp10.Append(amqp10.AppendDescriptor(nil, amqp10.SectionFooter), amqp10.Map{{Key: amqp10.Symbol("sum"), Value: uint64(7)}})
	if err != nil {
		t.Fatal(err)
	}
	application, err := amqp10.Append(amqp10.AppendDescriptor(nil, amqp10.SectionApplicationProperties), amqp10.Map{{Key: "n", Value: uint64(1)}})
	if err != nil {
		t.Fatal(err)
	}
	properties := amqp10.AppendComposite(nil, &amqp10.Properties{Subject: amqp10.Text("s"), To: amqp10.Text("/queues/q")})
	data := append(amqp10.AppendDataHead(nil, len(footer)), make([]byte, len(footer))...)
	for name, bare := range map[string][]byte{
		"data":              bytes.Join([][]byte{properties, application, data}, nil),
		"data and a footer": bytes.Join([][]byte{properties, application, data, footer}, nil),
		"data twice":        bytes.Join([][]byte{properties, data, data}, nil),

		"a footer before the data": bytes.Join([][]byte{properties, footer, data}, nil),
	} {
		sent := append(amqp10.AppendComposite(nil, &amqp10.Header{Durable: true, TTL: amqp10.Some[uint32](5)}), bare...)
		if name == "a footer before the data" {
			bare = bytes.Join([][]byte{properties, data, footer}, nil)
		}
		c, err := dialect.Read(sent, false)
		if err != nil || c.TTL != 5 || c.To != "/queues/q" || !protocol.Persistent(c.Header) {
			t.Fatalf("%s: %+v, %v", name, c, err)
		}
		m := &message.Message{RoutingKey: []byte("q"), Header: c.Header, Body: c.Body}
		head, body, err := dialect.Append(nil, m, dialect.Outgoing{Redelivered: true})
		if got := append(head, body...); err != nil || !bytes.HasSuffix(got, bare) {
			t.Errorf("%s: got %x, %v, want at its end %x", name, got, err, bare)
		}
		if single := name == "data"; single != (len(body) > 0) {
			t.Errorf("%s: %d bytes are not copied", name, len(body))
		}
	}
}

// Every message that can be read can be written again, and is read again with the same contents.
func FuzzRead(f *testing.F) {
	f.Add([]byte{0, 0x53, 0x75, 0xa0, 1, 'x'})
	f.Add([]byte{0, 0x53, 0x77, 0xa1, 1, 'x'})
	f.Add([]byte{0, 0x53, 0x70, 0xc0, 4, 2, 0x41, 0x50, 7, 0, 0x53, 0x72, 0xc1, 7, 2, 0xa3, 3, 'x', '-', 'a', 0x41, 0, 0x53, 0x75, 0xa0, 0})
	f.Fuzz(func(t *testing.T, encoded []byte) {
		c, err := dialect.Read(encoded, false)
		if err != nil {
			return
		}
		if _, err := protocol.DecodeProperties(c.Header); err != nil {
			t.Fatal("properties:", err)
		}
		m := &message.Message{Header: c.Header, Body: c.Body}
		once, body, err := dialect.Append(nil, m, dialect.Outgoing{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := dialect.Read(append(once, body...), false)
		if err != nil {
			t.Fatalf("%x: %v", append(once, body...), err)
		}
		if string(again.Body) != string(c.Body) || again.TTL != c.TTL || protocol.Persistent(again.Header) != protocol.Persistent(c.Header) || again.To != c.To {
			t.Errorf("%+v\n%+v", c, again)
		}
	})
}

func TestErrorOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want amqp10.Symbol
		text string
	}{
		{protocol.ChannelErrorf(protocol.NotFound, "no queue 'a - b'"), amqp10.NotFound, "no queue 'a - b'"},
		{protocol.ConnectionErrorf(protocol.ConnectionForced, "closed"), amqp10.ConnectionForced, `Connection forced: "closed"`},
		{protocol.ChannelErrorf(protocol.ResourceLocked, "locked queue 'q'. It could be originally declared elsewhere"), amqp10.ResourceLocked, "locked queue 'q'"},
		{amqp10.Errorf(amqp10.LinkStolen, "x"), amqp10.LinkStolen, "x"},
		{nil, amqp10.InternalError, "the broker failed"},
	} {
		if got := dialect.ErrorOf(c.err); got.Condition != c.want || got.Description != c.text {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
