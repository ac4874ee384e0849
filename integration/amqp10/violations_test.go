package amqp10

import (
	"encoding/binary"
	"testing"

	"candlemark/internal/testkit"
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

// transferFrame is one transfer with some bytes of a message.
func transferFrame(handle, id uint32, more bool, payload []byte) []byte {
	b := amqp10.AppendFrame(nil, 1, &amqp10.Transfer{Handle: handle, DeliveryID: amqp10.Some(id), DeliveryTag: []byte{1}, More: more})
	b = append(b, payload...)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

// TestViolations breaks the protocol in many ways: each is answered with its condition, where it belongs, and does nobody else
// any harm.
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
			code uint64 // of what is answered
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
			"transactions": {amqp10.CodeEnd, amqp10.NotImplemented, func(r *raw) {
				a := sending(0, "q")
				a.Target, a.Coordinator = nil, &amqp10.Coordinator{}
				r.send(1, a)
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
				for id := range uint32(400) { // before the journal has any of them
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
