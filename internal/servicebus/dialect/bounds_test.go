package dialect_test

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Names have at most 255 bytes, encoded in any length.
func TestLongNames(t *testing.T) {
	for n, fits := range map[int]bool{255: true, 256: false} {
		for encoded, name := range map[string]string{strings.Repeat("q", n): strings.Repeat("q", n), strings.Repeat("%2F", n): strings.Repeat("/", n)} {
			for address, want := range map[string]dialect.Target{
				"/queues/" + encoded: {Key: name}, "/exchanges/" + encoded: {Exchange: name}, "/exchanges/x/" + encoded: {Exchange: "x", Key: name},
			} {
				if got, err := dialect.ParseTarget(address); (err == nil) != fits || fits && got != want {
					t.Errorf("%d bytes: %+v, %v", n, got, err)
				}
			}
			if queue, err := dialect.ParseSource("/queues/" + encoded); (err == nil) != fits || fits && queue != name {
				t.Errorf("%d bytes to receive from: %q, %v", n, queue, err)
			}
		}
	}
}

// A message without a TTL is distinguished from one with a TTL of 0.
func TestTTLOfRead(t *testing.T) {
	for want, header := range map[int64]amqp10.Header{-1: {Durable: true}, 0: {TTL: amqp10.Some[uint32](0)}, 1<<32 - 1: {TTL: amqp10.Some[uint32](1<<32 - 1)}} {
		if c, err := dialect.Read(append(amqp10.AppendComposite(nil, &header), amqp10.AppendDataHead(nil, 0)...), false); err != nil || c.TTL != want {
			t.Errorf("TTL %d, %v, want %d", c.TTL, err, want)
		}
	}
}

// Properties take at most message.MaxHeader bytes in their 0-9-1 encoding.
func TestLargestHeaderOfRead(t *testing.T) {
	read := func(n int) (list int, err error) {
		application, err := amqp10.Append(amqp10.AppendDescriptor(nil, amqp10.SectionApplicationProperties), amqp10.Map{{Key: "k", Value: strings.Repeat("v", n)}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := dialect.Read(append(application, amqp10.AppendDataHead(nil, 0)...), false)
		if err != nil {
			return 0, err
		}
		p, err := protocol.DecodeProperties(c.Header)
		if err != nil {
			t.Fatal(err)
		}
		return len(p.Append(nil)), nil
	}
	const some = 1000
	list, err := read(some)
	if err != nil {
		t.Fatal(err)
	}
	room := some + message.MaxHeader - list
	if list, err := read(room); err != nil || list != message.MaxHeader {
		t.Errorf("%d bytes: %v", list, err)
	}
	var refused *amqp10.Error
	if _, err := read(room + 1); !errors.As(err, &refused) || refused.Condition != amqp10.ResourceLimitExceeded {
		t.Errorf("one byte more: %v", err)
	}
}

// Large properties and annotations are refused before they are decoded, which takes many times their size.
func TestLargeDescriptionsAreNotDecoded_PRO21(t *testing.T) {
	nulls, err := amqp10.Append(nil, amqp10.List(make([]any, 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []uint64{amqp10.SectionMessageAnnotations, amqp10.SectionApplicationProperties} {
		for _, key := range []string{"x-opt-delivery-delay", "x-cc", "x-other", "other"} {
			m, start := amqp10.OpenMap(amqp10.AppendDescriptor(nil, section))
			var name []byte
			if section == amqp10.SectionMessageAnnotations {
				name, err = amqp10.Append(nil, amqp10.Symbol(key))
			} else {
				name, err = amqp10.Append(nil, key)
			}
			if err != nil {
				t.Fatal(err)
			}
			m = amqp10.CloseCompound(append(append(m, name...), nulls...), start, 2)
			m = append(m, amqp10.AppendDataHead(nil, 0)...)
			var refused *amqp10.Error
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := dialect.Read(m, false)
			runtime.ReadMemStats(&after)
			if !errors.As(err, &refused) || refused.Condition != amqp10.ResourceLimitExceeded || after.TotalAlloc-before.TotalAlloc > 100_000 {
				t.Errorf("%s: %v, after %d bytes", key, err, after.TotalAlloc-before.TotalAlloc)
			}
		}
	}
}

// TestDeliveryCountOfDeadLetters_DL9: failed deliveries of earlier queues and of this one are added up.
func TestDeliveryCountOfDeadLetters_DL9(t *testing.T) {
	for want, o := range map[uint32]*message.Overlay{
		1: (*message.Overlay)(nil).Failing(1), 5: (*message.Overlay)(nil).Failing(2).Counted(3), math.MaxUint32: (*message.Overlay)(nil).Failing(math.MaxUint32).Counted(3),
	} {
		out, _, err := dialect.Append(nil, &message.Message{Header: protocol.Properties{}.Append(nil), Overlay: o}, dialect.Outgoing{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := amqp10.ScanSections(append(out, amqp10.AppendDataHead(nil, 0)...))
		if err != nil {
			t.Fatal(err)
		}
		if h, err := s.Header(); err != nil || h.DeliveryCount != want {
			t.Errorf("%+v: %+v, %v, want %d", o, h, err, want)
		}
	}
}

// Receivers of Azure Service Bus get the delivery count even if it is 0.
func TestDeliveryCountOfEntities(t *testing.T) {
	for _, count := range []uint32{0, 3} {
		out, _, err := dialect.Append(nil, &message.Message{Header: protocol.Properties{}.Append(nil)}, dialect.Outgoing{Entity: &dialect.Entity{DeliveryCount: count}})
		if err != nil {
			t.Fatal(err)
		}
		encoded := amqp10.AppendUInt(nil, count)
		if want := append([]byte{0, 0x53, 0x70, 0xc0, uint8(5 + len(encoded)), 5, 0x42, 0x40, 0x40, 0x41}, encoded...); !bytes.HasPrefix(out, want) {
			t.Errorf("count %d: %x, want %x first", count, out, want)
		}
	}
}
