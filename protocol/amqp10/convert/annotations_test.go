package convert

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// annotationsAfter converts a message with the annotations sent to 0-9-1 and back, and returns the annotations that a
// consumer gets, without exchange and routing key. own are annotations of the broker; change may change the headers in
// between.
func annotationsAfter(t *testing.T, sent amqp10.Map, own amqp10.Map, change func(protocol.Table) protocol.Table) amqp10.Map {
	t.Helper()
	footer := amqp10.AppendSection(nil, amqp10.SectionFooter, encode(t, amqp10.Map{{Key: amqp10.Symbol("sum"), Value: "1"}}))
	encoded := bytes.Join([][]byte{amqp10.AppendSection(nil, amqp10.SectionMessageAnnotations, encode(t, sent)), amqp10.AppendDataHead(nil, 4), []byte("body"), footer}, nil)
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		t.Fatal(err)
	}
	p, body, err := To091(&s, new(amqp10.Properties))
	if err != nil {
		t.Fatal(err)
	}
	raw := protocol.WithOriginal(AppendOriginal(p.Append(nil), encoded, &s), len(p.Append(nil)))
	if p, err = protocol.DecodeProperties(raw); err != nil { // as read from the queue
		t.Fatal(err)
	}
	if change != nil {
		p.Headers = change(p.Headers)
		p.Flags |= protocol.FlagHeaders
	}
	_, original := protocol.SplitOriginal(raw)
	head, rest := Append(nil, nil, &Message{Properties: p, Original: original, Body: body}, Delivery{Annotations: own})
	all := bytes.Join(append([][]byte{head}, rest...), nil)
	back, err := amqp10.ScanSections(all)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(all, encoded[s.BareStart:]) {
		t.Errorf("the bare message and the footer are not the same: %x", all)
	}
	got, _ := back.MessageAnnotations.Decode().(amqp10.Map)
	return got[min(len(got), map[bool]int{true: 2}[own == nil]):]
}

// TestAnnotationsKeepTheirTypes: annotations are delivered with the values and types with which they were sent, even
// annotations that no header can hold.
func TestAnnotationsKeepTheirTypes(t *testing.T) {
	sent := amqp10.Map{
		{Key: amqp10.Symbol("x-opt-string"), Value: "s"},
		{Key: amqp10.Symbol("x-opt-int"), Value: int32(-1)},
		{Key: amqp10.Symbol("x-opt-ulong"), Value: uint64(1) << 63},
		{Key: amqp10.Symbol("x-opt-symbol"), Value: amqp10.Symbol("s")},
		{Key: amqp10.Symbol("x-opt-char"), Value: amqp10.Char('c')},
		{Key: amqp10.Symbol("x-opt-time"), Value: amqp10.Timestamp(1234567)},
		{Key: amqp10.Symbol("x-opt-uuid"), Value: amqp10.UUID{1, 2}},
		{Key: amqp10.Symbol("x-opt-list"), Value: amqp10.List{uint64(1), "a"}},
		{Key: amqp10.Symbol("x-opt-map"), Value: amqp10.Map{{Key: amqp10.Symbol("k"), Value: true}}},
		{Key: amqp10.Symbol("x-opt-decimals"), Value: amqp10.List{amqp10.Decimal32{4}}},
		{Key: amqp10.Symbol("without-prefix"), Value: int64(5)},
		{Key: amqp10.Symbol("x-opt-decimal"), Value: amqp10.Decimal64{8}}, // cannot be a header
		{Key: amqp10.Symbol("x-opt-infinite"), Value: math.Inf(1)},        // neither can these
		{Key: amqp10.Symbol("x-opt-infinite-float"), Value: float32(math.Inf(-1))},
	}
	if got := annotationsAfter(t, sent, nil, nil); !reflect.DeepEqual(got, sent) {
		t.Errorf("got\n%v, sent\n%v", got, sent)
	}
}

// TestAnnotationsThatWereChanged: a header that was set or deleted after publishing overrides the annotation, and so do
// the broker's own annotations.
func TestAnnotationsThatWereChanged(t *testing.T) {
	ulong := func(key string, v uint64) amqp10.Map { return amqp10.Map{{Key: amqp10.Symbol(key), Value: v}} }
	set := func(v any) func(protocol.Table) protocol.Table {
		return func(t protocol.Table) protocol.Table { return t.Set("x-opt-a", v) }
	}
	remove := func(t protocol.Table) protocol.Table { return t.Delete("x-opt-a") }
	for name, c := range map[string]struct {
		sent, own, want amqp10.Map
		change          func(protocol.Table) protocol.Table
	}{
		"set":              {ulong("x-opt-a", 1), nil, amqp10.Map{{Key: amqp10.Symbol("x-opt-a"), Value: "new"}}, set("new")},
		"set as it was":    {ulong("x-opt-a", 1), nil, ulong("x-opt-a", 1), set(int64(1))},
		"deleted":          {ulong("x-opt-a", 1), nil, amqp10.Map{}, remove},
		"the broker's own": {ulong("x-opt-a", 1), ulong("x-opt-a", 2), ulong("x-opt-a", 2), nil},
		"no prefix, own":   {ulong("a", 1), ulong("a", 2), ulong("a", 2), nil},
		"no header, set":   {amqp10.Map{{Key: amqp10.Symbol("x-opt-a"), Value: amqp10.Decimal32{}}}, nil, amqp10.Map{{Key: amqp10.Symbol("x-opt-a"), Value: "new"}}, set("new")},
		"never a header":   {ulong("x-exchange", 1), nil, amqp10.Map{}, nil},
	} {
		if got := annotationsAfter(t, c.sent, c.own, c.change); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
