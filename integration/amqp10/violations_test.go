package amqp10

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/protocol/amqp10"
)

func opening() *amqp10.Open {
	return &amqp10.Open{ContainerID: "c", MaxFrameSize: 1 << 16, ChannelMax: 10}
}

func beginning() *amqp10.Begin {
	return &amqp10.Begin{IncomingWindow: 100, OutgoingWindow: 100, HandleMax: 1000}
}

func sending(handle uint32, queue string) *amqp10.Attach {
	return &amqp10.Attach{
		Name: "s", Handle: handle, Role: amqp10.RoleSender, SndSettleMode: amqp10.SenderMixed, InitialDeliveryCount: amqp10.Some(uint32(0)),
		Source: &amqp10.Source{}, Target: &amqp10.Target{Address: amqp10.Some("/queues/" + queue)},
	}
}

func receiving(handle uint32, queue string) *amqp10.Attach {
	return &amqp10.Attach{
		Name: "r", Handle: handle, Role: amqp10.RoleReceiver, Source: &amqp10.Source{Address: amqp10.Some("/queues/" + queue)}, Target: &amqp10.Target{},
	}
}

// transferFrame returns one transfer frame with some bytes of a message.
func transferFrame(handle, id uint32, more bool, payload []byte) []byte {
	b := amqp10.AppendFrame(nil, 1, &amqp10.Transfer{Handle: handle, DeliveryID: amqp10.Some(id), DeliveryTag: []byte{1}, More: more})
	b = append(b, payload...)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

// TestViolations breaks the protocol in many ways: each violation ends the connection, session or link that it concerns with the
// right condition, and affects no other client.
func TestViolations(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("closing connection")
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		if _, err := ch.QueueDeclare("stored", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		bystander := connect(b, nil)
		defer func() { _ = bystander.conn.Close() }()
		s, r := bystander.sender("/queues/q", nil), bystander.receiver("/queues/q", nil)
		for name, v := range map[string]struct {
			code uint64 // performative of the answer
			want amqp10.Symbol
			do   func(r *raw)
		}{
			"begin twice":     {amqp10.CodeClose, amqp10.IllegalState, func(r *raw) { r.send(1, beginning()) }},
			"channel-max":     {amqp10.CodeClose, amqp10.FramingError, func(r *raw) { r.send(11, beginning()) }},
			"no session":      {amqp10.CodeClose, amqp10.FramingError, func(r *raw) { r.send(2, sending(0, "q")) }},
			"open twice":      {amqp10.CodeClose, amqp10.IllegalState, func(r *raw) { r.send(0, opening()) }},
			"handle-max":      {amqp10.CodeClose, amqp10.FramingError, func(r *raw) { r.send(1, sending(256, "q")) }},
			"frame too large": {amqp10.CodeClose, amqp10.FramingError, func(r *raw) { r.say([]byte{0x7f, 0, 0, 0, 2, 0, 0, 1}) }},
			"no frame":        {amqp10.CodeClose, amqp10.FramingError, func(r *raw) { r.say([]byte{0, 0, 0, 1, 2, 0, 0, 1}) }},
			"no performative": {amqp10.CodeClose, amqp10.DecodeError, func(r *raw) { r.say([]byte{0, 0, 0, 9, 2, 0, 0, 1, 0x40}) }},
			"bad transfer":    {amqp10.CodeClose, amqp10.DecodeError, func(r *raw) { r.say([]byte{0, 0, 0, 12, 2, 0, 0, 1, 0, 0x53, 0x14, 0xc0}) }},
			"sasl":            {amqp10.CodeClose, amqp10.FramingError, func(r *raw) { r.say([]byte{0, 0, 0, 9, 2, 1, 0, 0, 0x40}) }},
			"handle in use":   {amqp10.CodeEnd, amqp10.HandleInUse, func(r *raw) { r.send(1, sending(0, "q"), sending(0, "q")) }},
			"no such handle":  {amqp10.CodeEnd, amqp10.UnattachedHandle, func(r *raw) { r.say(transferFrame(7, 0, false, nil)) }},
			"no detach":       {amqp10.CodeEnd, amqp10.UnattachedHandle, func(r *raw) { r.send(1, &amqp10.Detach{Handle: 7}) }},
			"no flow":         {amqp10.CodeEnd, amqp10.UnattachedHandle, func(r *raw) { r.send(1, &amqp10.Flow{Handle: amqp10.Some(uint32(7))}) }},
			"transfer on a receiving link": {amqp10.CodeEnd, amqp10.NotAllowed, func(r *raw) {
				r.send(1, receiving(0, "q"))
				r.want(amqp10.CodeAttach)
				r.say(transferFrame(0, 0, false, nil))
			}},
			"dynamic": {amqp10.CodeEnd, amqp10.NotImplemented, func(r *raw) {
				a := receiving(0, "q")
				a.Source.Dynamic = true
				r.send(1, a)
			}},
			"beyond the credit": {amqp10.CodeDetach, amqp10.TransferLimitExceeded, func(r *raw) {
				r.send(1, sending(0, "stored"))
				r.want(amqp10.CodeAttach)
				var all []byte
				for id := range uint32(1200) { // sent before the journal has written any of them
					all = append(all, transferFrame(0, id, false, []byte{0, 0x53, 0x77, 0x40})...)
				}
				r.say(all)
			}},
			"two deliveries at once": {amqp10.CodeEnd, amqp10.InvalidField, func(r *raw) {
				r.send(1, sending(0, "q"))
				r.want(amqp10.CodeAttach)
				r.say(transferFrame(0, 0, true, []byte{0}))
				r.say(transferFrame(0, 1, true, []byte{0}))
			}},
		} {
			x := openRaw(b, opening())
			x.send(1, beginning())
			x.want(amqp10.CodeBegin)
			v.do(x)
			var got *amqp10.Error
			switch p := x.want(v.code).(type) {
			case *amqp10.Close:
				got = p.Error
			case *amqp10.End:
				got = p.Error
			case *amqp10.Detach:
				got = p.Error
			}
			if got == nil || got.Condition != v.want {
				t.Errorf("%s: %v, want %s", name, got, v.want)
			}
			_ = x.Close()
			bystander.put(s, name)
			bystander.want(r, name)
		}
	})
}

// TestEndOfNoSession: a client (go-amqp) may end a session whose begin it cancelled before writing it, even twice. This does not
// affect other sessions of the connection, and the channel can be used again.
func TestEndOfNoSession(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		x := openRaw(b, opening())
		defer func() { _ = x.Close() }()
		x.send(1, beginning())
		x.want(amqp10.CodeBegin)
		for range 2 {
			x.send(2, &amqp10.End{}, beginning())
			x.want(amqp10.CodeBegin)
			x.send(2, &amqp10.End{}, &amqp10.End{})
			x.want(amqp10.CodeEnd)
		}
		x.send(1, &amqp10.End{})
		x.want(amqp10.CodeEnd)
	})
}

// violation is a line of testdata/violations.txt, or one of the cases that a line generates.
type violation struct {
	stage, want string
	bytes       []byte
	name        string
}

// violations reads testdata/violations.txt.
func violations(t *testing.T) (all []violation) {
	t.Helper()
	text, err := os.ReadFile("testdata/violations.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		part := strings.Split(line, " | ")
		if len(part) == 3 {
			all = append(all, violation{part[0], part[1], assemble(part[2]), line})
			continue
		}
		all = append(all, varied(part[0] == "cut", part[1], part[2], part[3])...)
	}
	return all
}

// varied returns the cases generated from a performative with all its fields.
func varied(cut bool, stage, want, text string) (all []violation) {
	channel, rest, _ := strings.Cut(text, " ")
	kind, rest, _ := strings.Cut(rest, " ")
	a := &assembler{strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(rest))}
	var fields [][]byte
	for len(a.words) > 0 {
		fields = append(fields, a.next())
	}
	for i := range fields {
		other := append([][]byte{}, fields...)
		other[i] = unhex("00537f45") // a list with an unknown descriptor
		b := compound(kind, other)
		if cut {
			whole := compound(kind, fields)
			behind := len(compound(kind, fields[:i+1]))
			if b = whole[:behind]; behind == len(whole) {
				continue
			}
		}
		all = append(all, violation{stage, want, compound(channel, [][]byte{b}), fmt.Sprintf("%s: field %d, cut %v", kind, i, cut)})
	}
	return all
}

// reach brings a client to the stage at which it breaks the protocol.
func reach(b *testkit.Bubble, stage string) *raw {
	b.Helper()
	link := map[string]*amqp10.Attach{"sender": sending(0, "q"), "receiver": receiving(0, "q"), "entity": sending(0, "q")}[stage]
	switch stage {
	case "tcp", "sasl", "header", "open":
		ours, theirs := net.Pipe()
		b.Node.Connect(ours)
		r := &raw{T: b.T, Conn: theirs}
		if stage != "tcp" {
			r.say(amqp10.SASLProtocolHeader[:])
			r.header()
			r.want(amqp10.CodeSASLMechanisms)
		}
		if stage == "header" || stage == "open" {
			r.send(0, &amqp10.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00guest\x00guest")})
			r.want(amqp10.CodeSASLOutcome)
		}
		if stage == "open" {
			r.say(amqp10.ProtocolHeader[:])
			r.header()
		}
		return r
	}
	r := openRaw(b, opening())
	if stage != "connection" {
		r.send(1, beginning())
		r.want(amqp10.CodeBegin)
	}
	if link != nil {
		if stage == "entity" {
			link.Target.Address = amqp10.Some("q")
		}
		r.send(1, link)
		r.want(amqp10.CodeAttach)
	}
	return r
}

// answer returns the first answer that ends something or refuses a message.
func (r *raw) answer(stage string) string {
	if stage == "tcp" || stage == "header" {
		r.in = nil
		_, _ = io.Copy(io.Discard, r.Conn)
		return "gone"
	}
	describe := func(what string, e *amqp10.Error) string {
		if e == nil {
			return what
		}
		return what + " " + string(e.Condition)
	}
	for {
		f, err := r.frame()
		if err != nil {
			return "gone"
		}
		p, _, err := f.Decode()
		if err != nil {
			continue // an empty frame
		}
		switch p := p.(type) {
		case *amqp10.SASLOutcome:
			return map[bool]string{true: "refused", false: "let in"}[p.Result == amqp10.SASLAuthFailed]
		case *amqp10.Close:
			return describe("close", p.Error)
		case *amqp10.End:
			if p.Error != nil {
				return describe("end", p.Error)
			}
		case *amqp10.Detach:
			if p.Error != nil {
				return describe("detach", p.Error)
			}
		case *amqp10.Disposition:
			return describe(map[bool]string{true: "rejected", false: "settled"}[p.State.Kind == amqp10.Rejected], p.State.Error)
		}
	}
}

// TestViolations_Table breaks the protocol in more than 200 ways. Each violation is answered as specified, leaves no memory
// allocated, and affects no other client.
func TestViolations_Table(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("closing connection", "handshake failed", "login refused", "session ended by the broker", "link detached")
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Declare("beside", nil)
		if err := ch.ExchangeDeclare("inner", "fanout", false, false, true, false, nil); err != nil {
			t.Fatal(err)
		}
		bystander := connect(b, nil)
		defer func() { _ = bystander.conn.Close() }()
		s, r := bystander.sender("/queues/beside", nil), bystander.receiver("/queues/beside", nil)
		all := violations(t)
		if len(all) < 200 {
			t.Errorf("%d cases", len(all))
		}
		before := heap()
		for _, v := range all {
			x := reach(b, v.stage)
			go func() { _, _ = x.Write(v.bytes) }() // the broker may close the connection before it has read all of it
			if got := x.answer(v.stage); got != v.want {
				t.Errorf("%s\n\tis answered %q, want %q", v.name, got, v.want)
			}
			_ = x.Close()
			bystander.put(s, "m")
			bystander.want(r, "m")
		}
		if grown := heap() - before; grown > 32<<20 {
			t.Errorf("%d bytes are left", grown)
		}
	})
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
