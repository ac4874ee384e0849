package dialect_test

import (
	"testing"

	"candlemark/internal/dialect"
	"candlemark/internal/message"
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

// Whatever can be read can be told again, and comes out the same the second time.
func FuzzRead(f *testing.F) {
	f.Add([]byte{0, 0x53, 0x75, 0xa0, 1, 'x'})
	f.Add([]byte{0, 0x53, 0x77, 0xa1, 1, 'x'})
	f.Add([]byte{0, 0x53, 0x70, 0xc0, 4, 2, 0x41, 0x50, 7, 0, 0x53, 0x72, 0xc1, 7, 2, 0xa3, 3, 'x', '-', 'a', 0x41, 0, 0x53, 0x75, 0xa0, 0})
	f.Fuzz(func(t *testing.T, encoded []byte) {
		c, err := dialect.Read(encoded)
		if err != nil {
			return
		}
		if _, err := protocol.DecodeProperties(c.Header); err != nil {
			t.Fatal("properties:", err)
		}
		m := &message.Message{Header: c.Header, Body: c.Body}
		once, err := dialect.Append(nil, m, m.Header, false)
		if err != nil {
			t.Fatal(err)
		}
		again, err := dialect.Read(append(once, c.Body...))
		if err != nil {
			t.Fatalf("%x: %v", append(once, c.Body...), err)
		}
		if string(again.Body) != string(c.Body) || again.TTL != c.TTL || again.Persistent != c.Persistent || again.To != c.To {
			t.Errorf("%+v\n%+v", c, again)
		}
	})
}

func TestErrorOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want amqp10.Symbol
	}{
		{protocol.ChannelErrorf(protocol.NotFound, "x"), amqp10.NotFound},
		{protocol.ConnectionErrorf(protocol.ConnectionForced, "x"), amqp10.ConnectionForced},
		{amqp10.Errorf(amqp10.LinkStolen, "x"), amqp10.LinkStolen},
		{nil, amqp10.InternalError},
	} {
		if got := dialect.ErrorOf(c.err); got.Condition != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
