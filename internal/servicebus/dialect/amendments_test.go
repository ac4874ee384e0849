package dialect_test

import (
	"reflect"
	"slices"
	"strconv"
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// delivered returns the sections of a message as delivered to a receiver of AMQP 1.0.
func delivered(t *testing.T, m *message.Message) *amqp10.Sections {
	t.Helper()
	head, body, err := dialect.Append(nil, m, dialect.Outgoing{Redelivered: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := amqp10.ScanSections(append(head, body...))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// wantEntries checks that a section has these entries, among others.
func wantEntries(t *testing.T, name string, section amqp10.Value, want amqp10.Map) {
	t.Helper()
	got, _ := section.Decode().(amqp10.Map)
	for _, e := range want {
		if !slices.ContainsFunc(got, func(x amqp10.Entry) bool { return reflect.DeepEqual(x, e) }) {
			t.Errorf("%s: %#v is not among %#v", name, e, got)
		}
	}
}

// TestAmendmentsKeepTheirTypes_LOCK2: amendments by a consumer of AMQP 1.0 reach the next consumer with their types,
// for a publisher of either protocol, and also after a restart; consumers of 0-9-1 get them as headers.
func TestAmendmentsKeepTheirTypes_LOCK2(t *testing.T) {
	annotations := amqp10.Map{
		{Key: amqp10.Symbol("x-opt-by"), Value: amqp10.Array{Of: amqp10.TypeString, Values: []any{"one", "two"}}},
		{Key: amqp10.Symbol("x-opt-list"), Value: amqp10.List{amqp10.Symbol("s"), uint64(2)}},
		{Key: amqp10.Symbol("x-opt-map"), Value: amqp10.Map{{Key: amqp10.Symbol("k"), Value: amqp10.Char('c')}}},
		{Key: amqp10.Symbol("x-opt-int"), Value: int32(7)},
	}
	properties := amqp10.Map{
		{Key: "at", Value: amqp10.Timestamp(1_700_000_000_123)}, {Key: "id", Value: amqp10.UUID{1, 2, 3}}, {Key: "n", Value: uint64(1)}, {Key: "text", Value: "t"},
	}
	published, err := dialect.Read(amqp10.AppendDataHead(nil, 0), false)
	if err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string][]byte{
		"0-9-1": (&protocol.Properties{Flags: protocol.FlagHeaders, Headers: protocol.Table{{Key: "n", Value: "old"}, {Key: "x-opt-list", Value: "old"}}}).Append(nil),
		"1.0":   published.Header,
	} {
		var none *message.Overlay
		o := none.Amended(dialect.Given(annotations), dialect.Amendments(properties))
		o, err := message.DecodeOverlay(o.Append(nil))
		if err != nil {
			t.Fatal(name, err)
		}
		m := &message.Message{Header: header, Overlay: o}
		s := delivered(t, m)
		wantEntries(t, name, s.MessageAnnotations, annotations)
		wantEntries(t, name, s.ApplicationProperties, properties)
		raw, err := o.Header(header)
		if err != nil {
			t.Fatal(name, err)
		}
		p, err := protocol.DecodeProperties(raw)
		if err != nil {
			t.Fatal(name, err)
		}
		want := protocol.Table{
			{Key: "at", Value: protocol.Timestamp(1_700_000_000)},
			{Key: "n", Value: int64(1)},
			{Key: "x-opt-by", Value: protocol.Array{"one", "two"}},
			{Key: "x-opt-int", Value: int32(7)},
			{Key: "x-opt-map", Value: protocol.Table{{Key: "k", Value: "c"}}},
		}
		for _, f := range want {
			if v, _ := p.Headers.Get(f.Key); !reflect.DeepEqual(v, f.Value) {
				t.Errorf("%s: the header %s is %#v, want %#v", name, f.Key, v, f.Value)
			}
		}
		o = o.Amended(dialect.Given(amqp10.Map{{Key: amqp10.Symbol("x-opt-by"), Value: "me"}}), nil)
		got, _ := delivered(t, &message.Message{Header: header, Overlay: o}).MessageAnnotations.Decode().(amqp10.Map)
		if v, _ := got.Get("x-opt-by"); v != "me" {
			t.Errorf("%s: the newest annotation is %#v", name, v)
		}
	}
}

// BenchmarkManyAnnotations: the time per annotation of a message must not grow with their number.
func BenchmarkManyAnnotations(b *testing.B) {
	for _, n := range []int{10, 1000, 5000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var m amqp10.Map
			for i := range n {
				m = append(m, amqp10.Entry{Key: amqp10.Symbol("x-opt-" + strconv.Itoa(i)), Value: uint64(7)})
			}
			v, err := amqp10.Append(nil, m)
			if err != nil {
				b.Fatal(err)
			}
			c, err := dialect.Read(amqp10.AppendDataHead(amqp10.AppendSection(nil, amqp10.SectionMessageAnnotations, v), 0), false)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, err := dialect.Append(nil, &message.Message{Header: c.Header, Body: c.Body}, dialect.Outgoing{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/annotation")
		})
	}
}
