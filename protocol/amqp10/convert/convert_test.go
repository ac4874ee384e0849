package convert

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"testing"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

var id = amqp10.UUID{0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0x00}

const idText = "urn:uuid:123e4567-e89b-12d3-a456-426614174000"

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := amqp10.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// scan converts m and scans the result.
func scan(t testing.TB, m *Message, d Delivery) amqp10.Sections {
	t.Helper()
	head, rest := Append(nil, nil, m, d)
	b := bytes.Join(append([][]byte{head}, rest...), nil)
	s, err := amqp10.ScanSections(b)
	if err != nil {
		t.Fatalf("%x: %v", b, err)
	}
	return s
}

// TestOriginal: a client of AMQP 1.0 gets the bare message of another one byte for byte.
func TestOriginal(t *testing.T) {
	properties := amqp10.AppendComposite(nil, &amqp10.Properties{MessageID: encode(t, uint64(7)), Subject: amqp10.Text("s")})
	application := amqp10.AppendSection(nil, amqp10.SectionApplicationProperties, encode(t, amqp10.Map{{Key: "n", Value: uint64(1)}, {Key: "x-mine", Value: int8(2)}}))
	data := func(s string) []byte { return append(amqp10.AppendDataHead(nil, len(s)), s...) }
	odd := []byte("\x00\x80\x00\x00\x00\x00\x00\x00\x00\x75\xb0\x00\x00\x00\x03odd") // a data section in larger encodings than necessary
	footer := amqp10.AppendSection(nil, amqp10.SectionFooter, encode(t, amqp10.Map{{Key: amqp10.Symbol("sum"), Value: "1"}, {Key: "text", Value: int32(2)}}))
	value := amqp10.AppendSection(nil, amqp10.SectionValue, encode(t, amqp10.List{"a", uint64(1)}))
	for name, bare := range map[string][][]byte{
		"data":           {properties, application, data("body")},
		"several":        {properties, data("one"), data(""), odd, data("four"), footer},
		"an empty one":   {properties, data("")},
		"a value":        {properties, application, value, footer},
		"nothing at all": {},
		"no body":        {application, footer},
	} {
		message := append(amqp10.AppendComposite(nil, &amqp10.Header{Durable: true}), bytes.Join(bare, nil)...)
		s, err := amqp10.ScanSections(message)
		if err != nil {
			t.Fatal(name, err)
		}
		p, body, err := To091(&s, new(amqp10.Properties))
		if err != nil {
			t.Fatal(name, err)
		}
		raw := protocol.WithOriginal(AppendHeader(AppendOriginal(p.Append(nil), message, &s), &s), len(p.Append(nil)))
		_, original := protocol.SplitOriginal(raw)
		if durable, first, ok := SentHeader(original); !durable || first || !ok {
			t.Errorf("%s: the header is %v, %v, %v", name, durable, first, ok)
		}
		head, rest := Append(nil, nil, &Message{RoutingKey: []byte("q"), Properties: p, Original: original, Body: body}, Delivery{})
		if got, want := bytes.Join(rest, nil), bytes.Join(bare, nil); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%x, want\n%x", name, got, want)
		}
		back, err := amqp10.ScanSections(bytes.Join(append([][]byte{head}, rest...), nil))
		if err != nil || back.MessageAnnotations.Lookup("x-mine") != nil {
			t.Errorf("%s: %v, or an application property among the annotations", name, err)
		}
	}
}

// TestFooterOfEncodedBody: consumers of 0-9-1 receive an encoded body with its footer and the type amqp-1.0, and on the
// way back both are encoded sections again. Journals contain older messages whose body is without the footer.
func TestFooterOfEncodedBody(t *testing.T) {
	value := amqp10.AppendSection(nil, amqp10.SectionValue, encode(t, int64(-1)))
	footer := amqp10.AppendSection(nil, amqp10.SectionFooter, encode(t, amqp10.Map{{Key: amqp10.Symbol("x-my footer"), Value: uint8(255)}}))
	both := slices.Concat(value, footer)
	p, body, err := To091(message(t, both), new(amqp10.Properties))
	if err != nil || !bytes.Equal(body, both) || p.Type != typeEncoded {
		t.Errorf("%x with type %q, %v", body, p.Type, err)
	}
	older := appendPart(appendPart(appendPart(nil, nil, 0), nil, len(value)), footer, 0)
	for _, m := range []*Message{
		{Properties: p, Body: both},
		{Properties: p, Body: both, Original: AppendOriginal(nil, both, message(t, both))},
		{Properties: p, Body: value, Original: older},
	} {
		if _, rest := Append(nil, nil, m, Delivery{}); !bytes.Equal(bytes.Join(rest, nil), both) {
			t.Errorf("%x, want %x", rest, both)
		}
	}
}

// TestOriginalThatDoesNotFit: if the body has another length, or the original is broken, the message is made from its properties.
func TestOriginalThatDoesNotFit(t *testing.T) {
	s := message(t, amqp10.AppendDataHead(nil, 0))
	good := AppendOriginal(nil, amqp10.AppendDataHead(nil, 0), s)
	for _, original := range [][]byte{good, good[:len(good)-1], {0xff}, {5}, {0, 0xff}, {0, 9}} {
		if got := scan(t, &Message{Original: original, Body: []byte("body")}, Delivery{}); got.BodyKind != amqp10.SectionData || !bytes.HasSuffix(got.Body(), []byte("body")) {
			t.Errorf("%x: %x", original, got.Body())
		}
	}
}

func TestTo10(t *testing.T) {
	s := scan(t, &Message{
		Exchange: []byte("logs"), RoutingKey: []byte("a.b"), Body: []byte("body"),
		Properties: protocol.Properties{
			ContentType: "text/plain", ContentEncoding: "gzip", DeliveryMode: 2, Priority: 7, CorrelationID: "c", ReplyTo: "r", Expiration: "60000",
			MessageID: idText, Timestamp: 1000, Type: "t", UserID: "guest", AppID: "app", Flags: 0xfffc &^ protocol.FlagHeaders,
		},
	}, Delivery{FirstAcquirer: true, DeliveryCount: 2})
	h, err := s.Header()
	want := amqp10.Header{Durable: true, Priority: amqp10.Some[uint8](7), TTL: amqp10.Some[uint32](60000), FirstAcquirer: true, DeliveryCount: 2}
	if err != nil || h != want {
		t.Errorf("header %+v, %v, want %+v", h, err, want)
	}
	var p amqp10.Properties
	err = s.Properties(&p)
	wantProperties := amqp10.Properties{
		MessageID: encode(t, id), CorrelationID: encode(t, "c"), UserID: []byte("guest"), ReplyTo: amqp10.Text("r"), ContentType: amqp10.SymbolText("text/plain"),
		ContentEncoding: amqp10.SymbolText("gzip"), CreationTime: amqp10.Some[amqp10.Timestamp](1000000), GroupID: amqp10.Text("app"),
	}
	if err != nil || !reflect.DeepEqual(p, wantProperties) {
		t.Errorf("properties %+v, %v, want %+v", p, err, wantProperties)
	}
	annotations := amqp10.Map{
		{Key: amqp10.Symbol("x-exchange"), Value: "logs"}, {Key: amqp10.Symbol("x-routing-key"), Value: "a.b"}, {Key: amqp10.Symbol("x-basic-type"), Value: "t"},
	}
	if got := s.MessageAnnotations.Decode(); !reflect.DeepEqual(got, annotations) {
		t.Errorf("annotations %v, want %v", got, annotations)
	}
	if s.ApplicationProperties != nil || s.BodyKind != amqp10.SectionData {
		t.Errorf("got %+v", s)
	}
	for _, v := range s.BodyValues() {
		if data, ok := v.Binary(); !ok || string(data) != "body" {
			t.Errorf("body %q, %v", data, ok)
		}
	}
}

func TestTo10WithoutProperties(t *testing.T) {
	s := scan(t, &Message{RoutingKey: []byte("q")}, Delivery{})
	h, err := s.Header()
	var p amqp10.Properties
	if propertiesErr := s.Properties(&p); err != nil || propertiesErr != nil || h != (amqp10.Header{}) || !reflect.DeepEqual(p, amqp10.Properties{}) {
		t.Errorf("got %+v, %+v, %v, %v", h, p, err, propertiesErr)
	}
	for expiration, want := range map[string]amqp10.Optional[uint32]{"": {}, "soon": {}, "-1": {}, "0": amqp10.Some[uint32](0), "99999999999": amqp10.Some[uint32](math.MaxUint32)} {
		s := scan(t, &Message{Properties: protocol.Properties{Expiration: expiration, Flags: protocol.FlagExpiration}}, Delivery{})
		if h, err := s.Header(); err != nil || h.TTL != want {
			t.Errorf("expiration %q: got %+v, %v", expiration, h, err)
		}
	}
}

func TestTo10Headers(t *testing.T) {
	death := protocol.Table{
		{Key: "count", Value: int64(2)},
		{Key: "reason", Value: "expired"},
		{Key: "queue", Value: "q"},
		{Key: "time", Value: protocol.Timestamp(5)},
		{Key: "exchange", Value: ""},
		{Key: "routing-keys", Value: protocol.Array{"k", "cc"}},
		{Key: "original-expiration", Value: "30"},
	}
	s := scan(t, &Message{Properties: protocol.Properties{Flags: protocol.FlagHeaders, Headers: protocol.Table{
		{Key: "a", Value: int32(-1)},
		{Key: "b", Value: "text"},
		{Key: "c", Value: "\xff"},
		{Key: "d", Value: nil},
		{Key: "e", Value: protocol.Timestamp(7)},
		{Key: "f", Value: true},
		{Key: "table", Value: protocol.Table{}},
		{Key: "array", Value: protocol.Array{}},
		{Key: "decimal", Value: protocol.Decimal{}},
		{Key: "CC", Value: protocol.Array{"k2"}},
		{Key: "x-list", Value: protocol.Array{int64(1), protocol.Table{{Key: "in", Value: "x"}}, protocol.Decimal{}}},
		{Key: "x-é", Value: uint8(1)},
		{Key: "x-death", Value: protocol.Array{death, "no table"}},
		{Key: "x-decimal", Value: protocol.Decimal{}},
	}}}, Delivery{})
	sym := func(s string) amqp10.Symbol { return amqp10.Symbol(s) }
	application := amqp10.Map{
		{Key: "a", Value: int32(-1)},
		{Key: "b", Value: "text"},
		{Key: "c", Value: []byte("\xff")},
		{Key: "d", Value: nil},
		{Key: "e", Value: amqp10.Timestamp(7000)},
		{Key: "f", Value: true},
	}
	if got := s.ApplicationProperties.Decode(); !reflect.DeepEqual(got, application) {
		t.Errorf("application properties %v, want %v", got, application)
	}
	annotations := amqp10.Map{
		{Key: sym("x-exchange"), Value: ""},
		{Key: sym("x-routing-key"), Value: ""},
		{Key: sym("x-cc"), Value: amqp10.List{"k2"}},
		{Key: sym("x-list"), Value: amqp10.List{int64(1), amqp10.Map{{Key: "in", Value: "x"}}}},
		{Key: sym("x-?"), Value: uint8(1)},
		{Key: sym("x-opt-deaths"), Value: amqp10.Array{Of: amqp10.TypeMap, Values: []any{amqp10.Map{
			{Key: sym("ttl"), Value: uint32(30)},
			{Key: sym("queue"), Value: "q"},
			{Key: sym("reason"), Value: sym("expired")},
			{Key: sym("count"), Value: uint64(2)},
			{Key: sym("first-time"), Value: amqp10.Timestamp(5000)},
			{Key: sym("last-time"), Value: amqp10.Timestamp(5000)},
			{Key: sym("exchange"), Value: ""},
			{Key: sym("routing-keys"), Value: amqp10.Array{Of: amqp10.TypeString, Values: []any{"k", "cc"}}},
		}}}},
	}
	if got := s.MessageAnnotations.Decode(); !reflect.DeepEqual(got, annotations) {
		t.Errorf("annotations\n%v, want\n%v", got, annotations)
	}
}

// A header that AMQP 1.0 cannot hold is left out, and no other.
func TestTo10NestedTooDeeply(t *testing.T) {
	var deep any = "x"
	for range 127 {
		deep = protocol.Array{deep}
	}
	headers := protocol.Table{{Key: "x-deep", Value: deep}, {Key: "x-flat", Value: "y"}}
	if _, err := protocol.AppendTable(nil, headers); err != nil {
		t.Fatal(err)
	}
	s := scan(t, &Message{Properties: protocol.Properties{Headers: headers, Flags: protocol.FlagHeaders}}, Delivery{})
	if s.MessageAnnotations.Lookup("x-deep") != nil || s.MessageAnnotations.Lookup("x-flat") == nil {
		t.Error("the wrong header is missing")
	}
}

// message encodes a message of AMQP 1.0 and scans it.
func message(t testing.TB, sections ...[]byte) *amqp10.Sections {
	t.Helper()
	s, err := amqp10.ScanSections(bytes.Join(sections, nil))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func section(t testing.TB, code uint64, v any) []byte {
	return amqp10.AppendSection(nil, code, encode(t, v))
}

var someProperties = amqp10.Properties{
	MessageID: amqp10.AppendUUID(nil, id), UserID: []byte("guest"), To: amqp10.Text("lost"), Subject: amqp10.Text("lost"), ReplyTo: amqp10.Text("r"),
	CorrelationID: amqp10.AppendULong(nil, 7), ContentType: amqp10.SymbolText("text/plain"), ContentEncoding: amqp10.SymbolText("gzip"),
	CreationTime: amqp10.Some[amqp10.Timestamp](5999), GroupID: amqp10.Text("g"), GroupSequence: amqp10.Some[uint32](1),
}

func TestTo091(t *testing.T) {
	header := amqp10.Header{Durable: true, Priority: amqp10.Some[uint8](0), TTL: amqp10.Some[uint32](5)}
	annotations := amqp10.Map{
		{Key: amqp10.Symbol("x-basic-type"), Value: "t"},
		{Key: amqp10.Symbol("x-exchange"), Value: "e"},
		{Key: amqp10.Symbol("x-cc"), Value: amqp10.List{"k"}},
		{Key: amqp10.Symbol("x-map"), Value: amqp10.Map{{Key: amqp10.Symbol("in"), Value: uint64(1)}}},
		{Key: amqp10.Symbol("other"), Value: true},
		{Key: uint64(1), Value: true},
		{Key: amqp10.Symbol("x-opt-deaths"), Value: amqp10.Array{Of: amqp10.TypeMap}},
	}
	application := amqp10.Map{
		{Key: "ulong", Value: uint64(9)},
		{Key: "large", Value: uint64(math.MaxUint64)},
		{Key: "symbol", Value: amqp10.Symbol("s")},
		{Key: "time", Value: amqp10.Timestamp(1999)},
		{Key: "before", Value: amqp10.Timestamp(-1)},
		{Key: "uuid", Value: id},
		{Key: "char", Value: amqp10.Char('é')},
		{Key: "array", Value: amqp10.Array{Of: amqp10.TypeULong, Values: []any{uint64(1)}}},
		{Key: "NaN", Value: math.NaN()},
		{Key: "float", Value: float32(1.5)},
		{Key: "decimal", Value: amqp10.Decimal32{}},
		{Key: "described", Value: amqp10.Described{Descriptor: uint64(1), Value: "in"}},
		{Key: string(make([]byte, 256)), Value: "the key is too long"},
	}
	data := append(amqp10.AppendDataHead(nil, 4), "body"...)
	s := message(
		t, amqp10.AppendComposite(nil, &header), section(t, amqp10.SectionMessageAnnotations, annotations), amqp10.AppendComposite(nil, &someProperties),
		section(t, amqp10.SectionApplicationProperties, application), data,
	)
	want := protocol.Properties{
		ContentType: "text/plain", ContentEncoding: "gzip", DeliveryMode: 2, CorrelationID: "7", ReplyTo: "r", Expiration: "5", MessageID: idText,
		Timestamp: 5, Type: "t", UserID: "guest", AppID: "g", Flags: 0xfffc &^ protocol.FlagClusterID,
		Headers: protocol.Table{
			{Key: "CC", Value: protocol.Array{"k"}},
			{Key: "x-map", Value: protocol.Table{{Key: "in", Value: int64(1)}}},
			{Key: "ulong", Value: int64(9)},
			{Key: "large", Value: "18446744073709551615"},
			{Key: "symbol", Value: "s"},
			{Key: "time", Value: protocol.Timestamp(1)},
			{Key: "before", Value: protocol.Timestamp(0)},
			{Key: "uuid", Value: idText},
			{Key: "char", Value: "é"},
			{Key: "array", Value: protocol.Array{int64(1)}},
			{Key: "float", Value: float32(1.5)},
			{Key: "described", Value: "in"},
		},
	}
	p, body, err := To091(s, new(amqp10.Properties))
	if err != nil || !reflect.DeepEqual(p, want) || string(body) != "body" {
		t.Errorf("got\n%+v, %q, %v, want\n%+v", p, body, err, want)
	}
	if again, err := protocol.DecodeProperties(p.Append(nil)); err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("on the wire %+v, %v", again, err)
	}
}

func TestTo091IDs(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 256))
	for name, tt := range map[string]struct {
		id      any
		want    string
		headers protocol.Table
	}{
		"text":      {"id", "id", nil},
		"long text": {long, "", protocol.Table{{Key: "x-message-id", Value: long}}},
		"ulong":     {uint64(0), "0", nil},
		"long":      {int64(-123), "-123", nil},
		"ubyte":     {uint8(7), "7", nil},
		"uuid":      {id, idText, nil},
		"binary":    {[]byte{1}, "", protocol.Table{{Key: "x-message-id", Value: []byte{1}}}},
	} {
		p, _, err := To091(message(t, amqp10.AppendComposite(nil, &amqp10.Properties{MessageID: encode(t, tt.id)})), new(amqp10.Properties))
		if err != nil || p.MessageID != tt.want || p.Has(protocol.FlagMessageID) != (tt.want != "") || !reflect.DeepEqual(p.Headers, tt.headers) || p.Has(protocol.FlagHeaders) != (tt.headers != nil) {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
}

func TestTo091Bodies(t *testing.T) {
	data := append(amqp10.AppendDataHead(nil, 2), "ab"...)
	value, sequence, footer := section(t, amqp10.SectionValue, "text"), section(t, amqp10.SectionSequence, amqp10.List{uint32(1)}), section(t, amqp10.SectionFooter, amqp10.Map{})
	twice := append(bytes.Clone(sequence), sequence...)
	for name, tt := range map[string]struct {
		sections [][]byte
		body     []byte
		kind     string
	}{
		"nothing":        {nil, nil, ""},
		"data":           {[][]byte{data}, []byte("ab"), ""},
		"data, in parts": {[][]byte{data, data, data}, []byte("ababab"), ""},
		"data, a footer": {[][]byte{data, footer}, []byte("ab"), ""},
		"a value":        {[][]byte{value, footer}, slices.Concat(value, footer), "amqp-1.0"},
		"sequences":      {[][]byte{sequence, sequence}, twice, "amqp-1.0"},
	} {
		p, body, err := To091(message(t, tt.sections...), new(amqp10.Properties))
		if err != nil || !bytes.Equal(body, tt.body) || p.Type != tt.kind || p.Has(protocol.FlagType) != (tt.kind != "") || p.DeliveryMode != 1 {
			t.Errorf("%s: got %+v, %q, %v", name, p, body, err)
		}
		back := scan(t, &Message{Properties: p, Body: body}, Delivery{})
		if want := message(t, tt.sections...); tt.kind != "" && !bytes.Equal(back.Body(), want.Body()) {
			t.Errorf("%s: back %x, want %x", name, back.Body(), want.Body())
		}
	}
	broken := &Message{Properties: protocol.Properties{Type: "amqp-1.0", Flags: protocol.FlagType}, Body: []byte("no sections")}
	if s := scan(t, broken, Delivery{}); s.BodyKind != amqp10.SectionData {
		t.Errorf("a body that is none: %+v", s)
	}
}

func TestTo091Refusals(t *testing.T) {
	for _, b := range [][]byte{section(t, amqp10.SectionHeader, amqp10.List{"durable"}), section(t, amqp10.SectionProperties, amqp10.List{true})} {
		if _, _, err := To091(message(t, b), new(amqp10.Properties)); err == nil {
			t.Errorf("%x is accepted", b)
		}
	}
}

func TestUUIDs(t *testing.T) {
	for s, want := range map[string]bool{
		idText: true, "urn:uuid:123E4567-E89B-12D3-A456-426614174000": true, "123e4567-e89b-12d3-a456-426614174000": false,
		"urn:uuid:": false, "urn:uuid:123e4567e89b-12d3-a456-4266141740000": false, "urn:uuid:123e4567-e89b-12d3-a456-42661417400g": false,
		"urn:uuid:123e4567-e89b-12d3-a456-42661417400-": false,
	} {
		if u, ok := parseUUID(s); ok != want || ok && u != id {
			t.Errorf("%q: got %x, %v", s, u, ok)
		}
	}
}

// Any message that can be converted can be read and converted back.
func FuzzConvert(f *testing.F) {
	s := section(f, amqp10.SectionApplicationProperties, amqp10.Map{{Key: "k", Value: amqp10.List{"x", nil}}})
	f.Add(s)
	f.Add(append(section(f, amqp10.SectionMessageAnnotations, amqp10.Map{{Key: amqp10.Symbol("x-death"), Value: amqp10.List{amqp10.Map{}}}}), section(f, amqp10.SectionValue, true)...))
	f.Add(amqp10.AppendComposite(nil, &amqp10.Properties{MessageID: encode(f, id), GroupID: amqp10.Text("g")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := amqp10.ScanSections(b)
		if err != nil {
			return
		}
		p, body, err := To091(&s, new(amqp10.Properties))
		if err != nil {
			return
		}
		if again, err := protocol.DecodeProperties(p.Append(nil)); err != nil || !reflect.DeepEqual(again.Flags, p.Flags) {
			t.Fatalf("got %+v, %v, want %+v", again, err, p)
		}
		back := scan(t, &Message{Properties: p, Body: body}, Delivery{})
		if _, body, err = To091(&back, new(amqp10.Properties)); err != nil {
			t.Fatalf("%x: %v", body, err)
		}
	})
}

// Names of direct reply queues are converted to addresses and back; any other reply-to stays as it is.
func TestReplyTo(t *testing.T) {
	for name, address := range map[string]string{
		"amq.rabbitmq.reply-to.abc": "/queues/amq.rabbitmq.reply-to.abc", "mine": "mine", "/queues/mine": "/queues/mine", "amq.rabbitmq.reply-to": "amq.rabbitmq.reply-to", "": "",
	} {
		if got := replyTo10(name); got != address {
			t.Errorf("%q becomes %q, want %q", name, got, address)
		}
		if got := string(replyTo091([]byte(address))); got != name {
			t.Errorf("%q becomes %q, want %q", address, got, name)
		}
	}
	if replyTo091(nil) != nil {
		t.Error("what is missing is there")
	}
}
