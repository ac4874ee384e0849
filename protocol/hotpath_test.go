package protocol

import (
	"bytes"
	"reflect"
	"runtime"
	"testing"
)

func TestDecodePublish(t *testing.T) {
	for _, m := range []*BasicPublish{
		{},
		{Exchange: "x"},
		{RoutingKey: "key"},
		{"logs", "a.b.c", true, false},
		{"logs", "a.b.c", false, true},
		{Exchange: string(bytes.Repeat([]byte("x"), 255)), RoutingKey: string(bytes.Repeat([]byte("k"), 255)), Mandatory: true},
	} {
		b := payload(m)
		var v PublishView
		if err := DecodePublish(b, &v); err != nil {
			t.Fatal(err)
		}
		if got := (BasicPublish{string(v.Exchange), string(v.RoutingKey), v.Mandatory, v.Immediate}); got != *m {
			t.Errorf("got %+v, want %+v", got, *m)
		}
		for n := range b {
			err := DecodePublish(b[:n:n], &v)
			connectionError(t, err, FrameErr, 60, 40)
		}
		connectionError(t, DecodePublish(append(b, 0), &v), FrameErr, 60, 40)
	}
}

func TestDecodeAck(t *testing.T) {
	for _, m := range []BasicAck{{}, {1, false}, {1 << 63, true}} {
		b := payload(&m)
		tag, multiple, err := DecodeAck(b)
		if err != nil || tag != m.DeliveryTag || multiple != m.Multiple {
			t.Errorf("got %d %v %v, want %+v", tag, multiple, err, m)
		}
		for n := range b {
			_, _, err := DecodeAck(b[:n:n])
			connectionError(t, err, FrameErr, 60, 80)
		}
		_, _, err = DecodeAck(append(b, 0))
		connectionError(t, err, FrameErr, 60, 80)
	}
}

// Frames appended without a struct equal the frames appended from the struct.
func TestHotFramesEqualTheirMethods(t *testing.T) {
	long := bytes.Repeat([]byte("k"), 255)
	for _, d := range []BasicDeliver{{}, {"ctag", 1 << 40, true, "x", "key"}, {string(long), 1, false, string(long), string(long)}} {
		got := AppendDeliverFrame(nil, 9, d.ConsumerTag, d.DeliveryTag, d.Redelivered, []byte(d.Exchange), []byte(d.RoutingKey))
		if want := AppendMethodFrame(nil, 9, &d); !bytes.Equal(got, want) {
			t.Errorf("got %x, want %x", got, want)
		}
	}
	for _, n := range []BasicNack{{}, {5, true, false}, {5, false, true}} {
		if got, want := AppendNackFrame(nil, 9, n.DeliveryTag, n.Multiple, n.Requeue), AppendMethodFrame(nil, 9, &n); !bytes.Equal(got, want) {
			t.Errorf("got %x, want %x", got, want)
		}
		a := BasicAck{n.DeliveryTag, n.Multiple}
		if got, want := AppendAckFrame(nil, 9, a.DeliveryTag, a.Multiple), AppendMethodFrame(nil, 9, &a); !bytes.Equal(got, want) {
			t.Errorf("got %x, want %x", got, want)
		}
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	publish := AppendMethodFrame(nil, 1, &BasicPublish{Exchange: "logs", RoutingKey: "a.b"})
	ack := payload(&BasicAck{DeliveryTag: 5})
	raw := everyProperty.Append(nil)
	header := AppendHeaderFrame(nil, 1, 5, raw)
	table := encode(t, everyType)
	exchange, key, body := []byte("logs"), []byte("a.b"), make([]byte, 10000)
	out := make([]byte, 0, 1<<16)
	var v PublishView
	for name, f := range map[string]func(){
		"ParseFrame":     func() { _, _, _, _ = ParseFrame(publish, FrameMinSize) },
		"need more":      func() { _, _, _, _ = ParseFrame(publish[:10], FrameMinSize) },
		"MethodKey":      func() { _, _, _ = MethodKey(publish[7:]) },
		"DecodePublish":  func() { _ = DecodePublish(publish[7:len(publish)-1], &v) },
		"DecodeAck":      func() { _, _, _ = DecodeAck(ack) },
		"content header": func() { _, _ = ParseContentHeader(header[7 : len(header)-1]) },
		"ScanProperties": func() { _, _ = ScanProperties(raw) },
		"checkTable":     func() { _ = checkTable(table) },
		"LookupField":    func() { _, _, _ = LookupField(table, "nope") },
		"deliver": func() {
			out = AppendDeliverFrame(out[:0], 1, "ctag", 9, true, exchange, key)
			out = AppendHeaderFrame(out, 1, 5, raw)
			out = AppendBodyFrames(out, 1, body, FrameMinSize)
		},
		"settle": func() { out = AppendNackFrame(AppendAckFrame(out[:0], 1, 9, true), 1, 9, true, false) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if !reflect.DeepEqual(v, PublishView{Exchange: exchange, RoutingKey: key}) {
		t.Errorf("got %+v", v)
	}
}

// Decoding allocates memory in proportion to the bytes present, for any sizes that the table claims.
func TestTableMemoryIsBounded(t *testing.T) {
	voids := bytes.Repeat([]byte{0, 'V'}, 64<<10)
	arrays := append(append([]byte{0, 'A'}, appendU32(nil, 100<<10)...), bytes.Repeat([]byte{'V'}, 100<<10)...)
	tables := bytes.Repeat([]byte{0, 'F', 0, 0, 0, 2, 0, 'V'}, 16<<10)
	for name, body := range map[string][]byte{
		"voids": voids, "an array of voids": arrays, "tables": tables,
		"lengths that lie": append(bytes.Repeat([]byte{0, 'V'}, 60<<10), 0, 'S', 255, 255, 255, 255),
	} {
		encoded := append(appendU32(nil, uint32(len(body))), body...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := DecodeTable(encoded)
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(20*len(encoded)+64<<10); got > limit {
			t.Errorf("%s: %d bytes allocated for %d (%v)", name, got, len(encoded), err)
		}
	}
	claims := []byte{255, 255, 255, 255, 0, 'V'}
	if n := testing.AllocsPerRun(10, func() { _, _ = DecodeTable(claims) }); n > 30 {
		t.Errorf("%v allocations to say no", n)
	}
}

func BenchmarkDecodePublish(b *testing.B) {
	p := payload(&BasicPublish{Exchange: "logs", RoutingKey: "a.b.c"})
	var v PublishView
	b.ReportAllocs()
	for b.Loop() {
		_ = DecodePublish(p, &v)
	}
}

func BenchmarkParseFrame(b *testing.B) {
	f := AppendMethodFrame(nil, 1, &BasicPublish{Exchange: "logs", RoutingKey: "a.b.c"})
	b.ReportAllocs()
	for b.Loop() {
		_, _, _, _ = ParseFrame(f, 131072)
	}
}

func BenchmarkScanProperties(b *testing.B) {
	for name, p := range map[string]Properties{
		"persistent": {DeliveryMode: 2, Flags: FlagDeliveryMode},
		"typical":    {ContentType: "text/plain", DeliveryMode: 2, Expiration: "60000", Flags: FlagContentType | FlagDeliveryMode | FlagExpiration},
		"everything": everyProperty,
	} {
		raw := p.Append(nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = ScanProperties(raw)
			}
		})
	}
}

func BenchmarkAppendDeliver(b *testing.B) {
	exchange, key, raw, body := []byte("logs"), []byte("a.b.c"), []byte{0x10, 0, 2}, make([]byte, 16)
	out := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		out = AppendDeliverFrame(out[:0], 1, "ctag", 9, true, exchange, key)
		out = AppendHeaderFrame(out, 1, 16, raw)
		out = AppendBodyFrames(out, 1, body, 131072)
	}
}
