package hotpath_test

import (
	"bytes"
	"reflect"
	"testing"

	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/hotpath"
)

// usual returns performatives as clients send them: with list8 and list32, with all fields and with the required ones
// only.
func usual() map[string][]byte {
	some := amqp10.Some[uint32]
	all := map[string][]byte{}
	for name, p := range map[string]amqp10.Composite{
		"transfer":         &amqp10.Transfer{Handle: 1, DeliveryID: some(1 << 20), DeliveryTag: []byte("0123"), MessageFormat: some(0)},
		"settled transfer": &amqp10.Transfer{DeliveryID: some(200), DeliveryTag: bytes.Repeat([]byte("t"), 32), MessageFormat: some(3), Settled: true, More: true, Batchable: true},
		"next transfer":    &amqp10.Transfer{Handle: 300},
		"transfer's state": &amqp10.Transfer{DeliveryTag: []byte{}, State: amqp10.State{Kind: amqp10.Accepted}, Resume: true, Aborted: true},
		"disposition":      &amqp10.Disposition{Role: amqp10.RoleReceiver, First: 1000, Last: some(2000), Settled: true, State: amqp10.State{Kind: amqp10.Accepted}},
		"released":         &amqp10.Disposition{First: 7, State: amqp10.State{Kind: amqp10.Released}, Batchable: true},
	} {
		b := amqp10.AppendComposite(nil, p)
		all[name] = append(b, "payload"...)
		fields := b[6:]
		all[name+" with a long list"] = append(append([]byte{0, 0x53, b[2], 0xd0, 0, 0, 0, byte(len(fields) + 4), 0, 0, 0, b[5]}, fields...), "payload"...)
	}
	return all
}

// same fails unless the fast and the general decoder agree.
func same(t *testing.T, b []byte) (known bool) {
	t.Helper()
	var transfer, slowTransfer amqp10.Transfer
	if rest, ok := hotpath.Transfer(b, &transfer); ok {
		known = true
		slowRest, err := amqp10.DecodeInto(b, &slowTransfer)
		if err != nil || !bytes.Equal(rest, slowRest) || !reflect.DeepEqual(transfer, slowTransfer) {
			t.Fatalf("%x: %+v and %x, but %+v and %x, %v", b, transfer, rest, slowTransfer, slowRest, err)
		}
	}
	var disposition, slowDisposition amqp10.Disposition
	if rest, ok := hotpath.Disposition(b, &disposition); ok {
		known = true
		slowRest, err := amqp10.DecodeInto(b, &slowDisposition)
		if err != nil || !bytes.Equal(rest, slowRest) || !reflect.DeepEqual(disposition, slowDisposition) {
			t.Fatalf("%x: %+v and %x, but %+v and %x, %v", b, disposition, rest, slowDisposition, slowRest, err)
		}
	}
	return known
}

// Common encodings are handled. With any byte changed or any suffix cut off, the result equals the general decoder's,
// or the fast decoder declines.
func TestUsual(t *testing.T) {
	for name, b := range usual() {
		if !same(t, b) {
			t.Errorf("%s: %x is not known", name, b)
		}
		for i := range b {
			same(t, b[:i:i])
			for v := range 256 {
				changed := bytes.Clone(b)
				changed[i] = byte(v)
				same(t, changed)
			}
		}
	}
}

// The fast encoder appends the same bytes as the general one.
func TestAppendTransfer(t *testing.T) {
	some := amqp10.Some[uint32]
	for _, tag := range [][]byte{nil, {}, []byte("0123"), make([]byte, 16), make([]byte, 32), make([]byte, 250)} {
		for _, n := range []uint32{0, 255, 256, 1<<32 - 1} {
			for bits := range 1 << 8 {
				p := amqp10.Transfer{Handle: n, DeliveryTag: tag, Settled: bits&1 > 0, More: bits&2 > 0, Resume: bits&4 > 0, Aborted: bits&8 > 0, Batchable: bits&16 > 0}
				if bits&32 > 0 {
					p.DeliveryID = some(n)
				}
				if bits&64 > 0 {
					p.MessageFormat = some(n)
				}
				if bits&128 > 0 {
					p.State.Kind = amqp10.Accepted
				}
				want, got := amqp10.AppendFrame([]byte("before"), 300, &p), hotpath.AppendTransfer([]byte("before"), 300, &p)
				if !bytes.Equal(got, want) {
					t.Fatalf("%+v: %x, want %x", p, got, want)
				}
			}
		}
	}
}

func FuzzHotpath(f *testing.F) {
	for _, b := range usual() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { same(t, b) })
}

func BenchmarkHotpath(b *testing.B) {
	transfer, disposition := usual()["transfer"], usual()["disposition"]
	b.Run("transfer", func(b *testing.B) {
		var p amqp10.Transfer
		for b.Loop() {
			if _, ok := hotpath.Transfer(transfer, &p); !ok {
				b.Fatal()
			}
		}
	})
	b.Run("append/transfer", func(b *testing.B) {
		p := amqp10.Transfer{Handle: 1, DeliveryID: amqp10.Some[uint32](1 << 20), DeliveryTag: []byte("0123"), MessageFormat: amqp10.Some[uint32](0)}
		var out []byte
		for b.Loop() {
			out = hotpath.AppendTransfer(out[:0], 1, &p)
		}
	})
	b.Run("disposition", func(b *testing.B) {
		var p amqp10.Disposition
		for b.Loop() {
			if _, ok := hotpath.Disposition(disposition, &p); !ok {
				b.Fatal()
			}
		}
	})
}
