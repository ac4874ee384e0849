package amqp10

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// section encodes one section from its value.
func section(t testing.TB, code uint64, v any) []byte {
	t.Helper()
	return AppendSection(nil, code, encode(t, v))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

var fullProperties = Properties{
	MessageID: Value{0xa1, 2, 'i', 'd'}, UserID: []byte("guest"), To: Text("/queues/q"), Subject: Text("s"), ReplyTo: Text("r"),
	CorrelationID: Value{0x44}, ContentType: SymbolText("text/plain"), ContentEncoding: SymbolText("gzip"),
	AbsoluteExpiryTime: Some[Timestamp](1 << 41), CreationTime: Some[Timestamp](0), GroupID: Text("g"), GroupSequence: Some[uint32](3), ReplyToGroupID: Text(""),
}

func TestHeaderAndProperties(t *testing.T) {
	for golden, h := range map[string]Header{
		"00537045":                     {},
		"005370c00201" + "41":          {Durable: true},
		"005370c00402" + "40" + "5000": {Priority: Some[uint8](0)},
		"005370c00905" + "41" + "5009" + "52ff" + "41" + "5203": {true, Some[uint8](9), Some[uint32](255), true, 3, false},
	} {
		encoded := AppendComposite(nil, &h)
		if want := unhex(t, golden); !bytes.Equal(encoded, want) {
			t.Errorf("%+v encodes to %x, want %x", h, encoded, want)
		}
		s, err := ScanSections(encoded)
		if got, headerErr := s.Header(); err != nil || headerErr != nil || got != h {
			t.Errorf("got %+v, %v, %v, want %+v", got, err, headerErr, h)
		}
	}
	for _, p := range []Properties{{}, {To: Text("t")}, {ReplyToGroupID: Text("g")}, fullProperties} {
		s, err := ScanSections(AppendComposite(nil, &p))
		got := Properties{Subject: Text("left over")}
		if propertiesErr := s.Properties(&got); err != nil || propertiesErr != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("got %+v, %v, %v, want %+v", got, err, propertiesErr, p)
		}
	}
	var s Sections
	if h, err := s.Header(); err != nil || h != (Header{}) {
		t.Errorf("without a header: %+v, %v", h, err)
	}
	p := fullProperties
	if err := s.Properties(&p); err != nil || !reflect.DeepEqual(p, Properties{}) {
		t.Errorf("without properties: %+v, %v", p, err)
	}
}

func TestScanSections(t *testing.T) {
	header := AppendComposite(nil, &Header{Durable: true})
	delivery := section(t, SectionDeliveryAnnotations, Map{{Symbol("x-opt-lock-token"), UUID{1}}})
	message := section(t, SectionMessageAnnotations, Map{{Symbol("x-exchange"), "e"}, {uint64(1), nil}})
	properties := AppendComposite(nil, &fullProperties)
	application := section(t, SectionApplicationProperties, Map{{"k", int32(7)}, {"l", List{"x"}}})
	data := append(AppendDataHead(nil, 4), "body"...)
	footer := section(t, SectionFooter, Map{{Symbol("crc"), uint32(9)}})
	b := join(header, delivery, message, properties, application, data, data, footer)
	s, err := ScanSections(b)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := s.Header(); err != nil || !h.Durable {
		t.Errorf("got %+v, %v", h, err)
	}
	var p Properties
	if err := s.Properties(&p); err != nil || !reflect.DeepEqual(p, fullProperties) {
		t.Errorf("got %+v, %v", p, err)
	}
	if id, ok := s.DeliveryAnnotations.Lookup("x-opt-lock-token").UUID(); !ok || id != (UUID{1}) {
		t.Errorf("got %v, %v", id, ok)
	}
	if text, ok := s.MessageAnnotations.Lookup("x-exchange").Text(); !ok || string(text) != "e" {
		t.Errorf("got %q, %v", text, ok)
	}
	if n, ok := s.ApplicationProperties.Lookup("k").Int64(); !ok || n != 7 {
		t.Errorf("got %v, %v", n, ok)
	}
	if n, ok := s.Footer.Lookup("crc").Uint64(); !ok || n != 9 {
		t.Errorf("got %v, %v", n, ok)
	}
	if bare := b[s.BareStart:s.BareEnd]; !bytes.Equal(bare, join(properties, application, data, data)) {
		t.Errorf("bare message %x", bare)
	}
	if s.BodyKind != SectionData || !bytes.Equal(s.Body(), join(data, data)) || cap(s.Body()) != 2*len(data) {
		t.Errorf("body %#x %x", s.BodyKind, s.Body())
	}
	n := 0
	for _, v := range s.BodyValues() {
		if part, ok := v.Binary(); !ok || string(part) != "body" {
			t.Errorf("got %q, %v", part, ok)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d data sections", n)
	}
	for range s.BodyValues() {
		break
	}
}

func TestScanSectionsBodies(t *testing.T) {
	data, sequence, value := append(AppendDataHead(nil, 0), ""...), section(t, SectionSequence, List{nil}), section(t, SectionValue, nil)
	footer := section(t, SectionFooter, Map{})
	for name, tt := range map[string]struct {
		message    []byte
		kind       uint64
		start, end int
	}{
		"nothing":             {nil, 0, 0, 0},
		"a header only":       {AppendComposite(nil, &Header{}), 0, 4, 4},
		"data":                {data, SectionData, 0, 5},
		"data twice":          {join(data, data), SectionData, 0, 10},
		"sequences":           {join(sequence, sequence, footer), SectionSequence, 0, 14},
		"a value":             {join(value, footer), SectionValue, 0, 4},
		"a footer only":       {footer, 0, 0, 0},
		"annotations, footer": {join(section(t, SectionMessageAnnotations, Map{}), footer), 0, 6, 6},
		"a name":              {append(AppendSymbol([]byte{0}, "amqp:data:binary"), 0xa0, 0), SectionData, 0, 21},
	} {
		s, err := ScanSections(tt.message)
		if err != nil || s.BodyKind != tt.kind || s.BareStart != tt.start || s.BareEnd != tt.end {
			t.Errorf("%s: got %+v, %v", name, s, err)
		}
	}
}

func TestScanSectionsRefusals(t *testing.T) {
	header, properties := AppendComposite(nil, &Header{}), AppendComposite(nil, &fullProperties)
	delivery, message := section(t, SectionDeliveryAnnotations, Map{}), section(t, SectionMessageAnnotations, Map{})
	application, footer := section(t, SectionApplicationProperties, Map{}), section(t, SectionFooter, Map{})
	data, sequence, value := section(t, SectionData, []byte{}), section(t, SectionSequence, List{}), section(t, SectionValue, true)
	order := [][]byte{header, delivery, message, properties, application, data, footer}
	for i := range order {
		for j := range i + 1 {
			if i == j && i == 5 {
				continue // several data sections are allowed
			}
			_, err := ScanSections(join(order[i], order[j]))
			refused(t, err, DecodeError)
		}
	}
	for name, message := range map[string][]byte{
		"two values":              join(value, value),
		"data and sequence":       join(data, sequence),
		"sequence and data":       join(sequence, data),
		"data and value":          join(data, value),
		"value and data":          join(value, data),
		"a section of no message": AppendComposite(nil, &End{}),
		"not described":           {0x40},
		"half a section":          data[:len(data)-1],
		"bytes behind":            append(append([]byte{}, data...), 0),
		"broken inside":           append(AppendDescriptor(nil, SectionValue), 0xa1, 1, 0xff),
	} {
		if _, err := ScanSections(message); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	for name, message := range map[string][]byte{
		"a header that is a map":        section(t, SectionHeader, Map{}),
		"annotations that are a list":   section(t, SectionMessageAnnotations, List{}),
		"annotations with boolean keys": section(t, SectionMessageAnnotations, Map{{true, true}}),
		"delivery annotations":          section(t, SectionDeliveryAnnotations, Map{{1.5, true}}),
		"properties that are a map":     section(t, SectionProperties, Map{}),
		"symbols as application keys":   section(t, SectionApplicationProperties, Map{{Symbol("k"), true}}),
		"null for application":          section(t, SectionApplicationProperties, nil),
		"data that is a string":         section(t, SectionData, "x"),
		"a sequence that is a map":      section(t, SectionSequence, Map{}),
		"a footer with boolean keys":    section(t, SectionFooter, Map{{true, true}}),
		"a footer that is not a map":    section(t, SectionFooter, true),
		"properties that are described": section(t, SectionProperties, Described{uint64(1), List{}}),
	} {
		_, err := ScanSections(message)
		if err == nil {
			t.Errorf("%s: not refused", name)
			continue
		}
		refused(t, err, InvalidField)
	}
	for _, v := range []any{List{"durable"}, List{nil, uint32(4)}, List{nil, nil, nil, nil, nil, nil}} {
		s, err := ScanSections(section(t, SectionHeader, v))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Header()
		refused(t, err, InvalidField)
	}
	for _, v := range []any{List{true}, List{nil, "user"}, List{nil, nil, Symbol("to")}, List{nil, nil, nil, nil, nil, true}} {
		s, err := ScanSections(section(t, SectionProperties, v))
		if err != nil {
			t.Fatal(err)
		}
		refused(t, s.Properties(new(Properties)), InvalidField)
	}
	for _, id := range []any{int64(1), int32(1), uint32(1), uint8(1), int8(-1)} { // not permitted as ids by the specification, but sent by clients
		s, err := ScanSections(section(t, SectionProperties, List{id}))
		if err != nil || s.Properties(new(Properties)) != nil {
			t.Errorf("%T: %v", id, err)
		}
	}
}

// TestKeys: keys of annotations and footers that the specification does not permit, but clients send.
func TestKeys(t *testing.T) {
	m := Map{{"k", "string"}, {Symbol("s"), "symbol"}, {uint64(1), "ulong"}, {int64(-1), "long"}, {uint32(2), "uint"}, {int32(3), "int"}}
	for _, code := range []uint64{SectionDeliveryAnnotations, SectionMessageAnnotations, SectionFooter} {
		b := section(t, code, m)
		s, err := ScanSections(b)
		if err != nil {
			t.Errorf("%#x: %v", code, err)
			continue
		}
		v := map[uint64]Value{SectionDeliveryAnnotations: s.DeliveryAnnotations, SectionMessageAnnotations: s.MessageAnnotations, SectionFooter: s.Footer}[code]
		if !reflect.DeepEqual(v.Decode(), m) || !bytes.HasSuffix(b, v) {
			t.Errorf("%#x: %v", code, v.Decode())
		}
		if text, _ := v.Lookup("k").Text(); string(text) != "string" {
			t.Errorf("%#x: k is %q", code, text)
		}
	}
}

// TestFooterLast: a footer before the body moves to the end of the message.
func TestFooterLast(t *testing.T) {
	properties := AppendComposite(nil, &Properties{Subject: Text("s")})
	data, footer := section(t, SectionData, []byte("x")), section(t, SectionFooter, Map{{"k", true}})
	if got, ok := FooterLast(join(properties, footer, data, data)); !ok || !bytes.Equal(got, join(properties, data, data, footer)) {
		t.Errorf("%x, %v", got, ok)
	}
	for _, b := range [][]byte{nil, join(properties, data, footer), footer, data, join(data, footer[:3]), {1}} {
		if got, ok := FooterLast(b); ok {
			t.Errorf("%x became %x", b, got)
		}
	}
}

// benchMessage returns a message as a client sends it.
func benchMessage(t testing.TB) []byte {
	p := Properties{MessageID: Value{0xa1, 2, 'i', 'd'}, To: Text("/queues/q"), ContentType: SymbolText("text/plain")}
	return join(
		AppendComposite(nil, &Header{Durable: true}),
		section(t, SectionMessageAnnotations, Map{{Symbol("x-opt-a"), "b"}}), AppendComposite(nil, &p),
		section(t, SectionApplicationProperties, Map{{"a", "b"}, {"count", int32(4)}}),
		AppendDataHead(nil, 100), make([]byte, 100),
	)
}

func TestSectionsDoNotAllocate(t *testing.T) {
	b := benchMessage(t)
	out, long := make([]byte, 0, 1024), Properties{Subject: Text(strings.Repeat("é", 100))}
	s, err := ScanSections(b)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"ScanSections": func() { _, _ = ScanSections(b) },
		"Header":       func() { _, _ = s.Header() },
		"Properties": func() {
			var p Properties
			_ = s.Properties(&p)
		},
		"Lookup": func() { _, _ = s.ApplicationProperties.Lookup("count").Int64() },
		"body": func() {
			for _, v := range s.BodyValues() {
				_, _ = v.Binary()
			}
		},
		"append": func() {
			out = AppendComposite(out[:0], &Header{Durable: true, TTL: Some[uint32](6000)})
			out = AppendComposite(AppendComposite(out, &fullProperties), &long)
			out = AppendSection(out, SectionApplicationProperties, s.ApplicationProperties)
			out = AppendDataHead(out, 100)
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkScanSections(b *testing.B) {
	message := benchMessage(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = ScanSections(message)
	}
}

func BenchmarkProperties(b *testing.B) {
	s, err := ScanSections(benchMessage(b))
	if err != nil {
		b.Fatal(err)
	}
	var p Properties
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Header()
		_ = s.Properties(&p)
	}
}
