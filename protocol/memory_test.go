package protocol

import "testing"

// The estimate includes small values, of which many fit in few bytes of a frame, as well as large texts.
func TestTable_Memory(t *testing.T) {
	none := make(Array, 1000)
	for _, c := range []struct {
		t           Table
		least, most int64
	}{
		{nil, 0, 0},
		{Table{{"x-expires", int64(1)}}, 40, 60},
		{Table{{"k", string(make([]byte, 1000))}}, 1000, 1100},
		{Table{{"k", make([]byte, 1000)}}, 1000, 1100},
		{Table{{"k", none}}, 16_000, 30_000},
		{Table{{"k", Table{{"k", Array{none, none}}}}}, 32_000, 60_000},
	} {
		if got := c.t.Memory(); got < c.least || got > c.most {
			t.Errorf("%d, want %d to %d", got, c.least, c.most)
		}
	}
}

// Without decoding, the arguments of a method are found to take the same.
func TestArgumentsMemory(t *testing.T) {
	args := Table{
		{"k", make(Array, 1000)}, {"", nil}, {"t", Table{{"x", "text"}, {"y", []byte("bytes")}, {"a", Array{Array{}, Table{}, nil, true, int64(1)}}}}, {"d", Decimal{1, 2}},
	}
	for _, m := range []Method{
		&QueueDeclare{Queue: "q", Arguments: args}, &QueueBind{Queue: "q", Exchange: "x", RoutingKey: "k", Arguments: args},
		&QueueUnbind{Queue: "q", Exchange: "x", RoutingKey: "k", Arguments: args}, &ExchangeDeclare{Exchange: "x", Type: "t", Arguments: args},
		&ExchangeBind{Source: "s", Destination: "d", RoutingKey: "k", Arguments: args},
		&ExchangeUnbind{Source: "s", Destination: "d", RoutingKey: "k", Arguments: args}, &BasicConsume{Queue: "q", ConsumerTag: "t", Arguments: args},
	} {
		frame := AppendMethodFrame(nil, 1, m)
		payload := frame[7 : len(frame)-1]
		if got, want := ArgumentsMemory(payload, 1000), args.Memory(); got != want {
			t.Errorf("%s: %d, want %d", m.Key().String(), got, want)
		}
		if got := ArgumentsMemory(payload, 24*len(payload)); got != 0 {
			t.Errorf("%s: %d of few", m.Key().String(), got)
		}
		for n := range payload {
			ArgumentsMemory(payload[:n], 0) // must not panic
		}
	}
}
