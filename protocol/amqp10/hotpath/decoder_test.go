package hotpath_test

import (
	"testing"

	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/hotpath"
)

// Nothing of one frame remains in the next one, and bytes after a performative cause an error.
func TestDecode(t *testing.T) {
	var d hotpath.Decoder
	decode := func(p amqp10.Composite, more ...byte) (amqp10.Composite, []byte, error) {
		text := append(amqp10.AppendFrame(nil, 1, p), more...)
		text[3] = byte(len(text))
		f, _, _, err := amqp10.ParseFrame(text, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return d.Decode(f)
	}
	if p, payload, err := decode(&amqp10.Transfer{Handle: 7, More: true, DeliveryID: amqp10.Some(uint32(3))}, 1, 2); err != nil || len(payload) != 2 || p.(*amqp10.Transfer).Handle != 7 {
		t.Errorf("%+v, %v, %v", p, payload, err)
	}
	if p, payload, err := decode(&amqp10.Transfer{}); err != nil || len(payload) != 0 || p.(*amqp10.Transfer).More || p.(*amqp10.Transfer).DeliveryID.Set {
		t.Errorf("%+v, %v, %v", p, payload, err)
	}
	for _, p := range []amqp10.Composite{&amqp10.Disposition{First: 1}, &amqp10.Flow{Echo: true}} {
		if _, _, err := decode(p); err != nil {
			t.Error(err)
		}
		if _, _, err := decode(p, 0x40); err == nil {
			t.Errorf("%T with bytes behind it", p)
		}
	}
	if p, _, err := decode(&amqp10.Detach{Handle: 2}); err != nil || p.(*amqp10.Detach).Handle != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}
