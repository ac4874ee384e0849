package amqp10

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
)

// Our codec must read what the codec of an independent client encodes, and the client must read what ours encodes.

const randomMessages = 2000

// randomValue returns a value of one of the client's types, with at most this many levels.
func randomValue(r *rand.Rand, levels int) any {
	kinds := 18
	if levels > 1 {
		kinds += 5
	}
	switch r.IntN(kinds) {
	case 0:
		return r.IntN(2) == 0
	case 1:
		return uint8(r.Uint32())
	case 2:
		return uint16(r.Uint32())
	case 3:
		return uint32(r.IntN(300))
	case 4:
		return r.Uint32()
	case 5:
		return uint64(r.IntN(300))
	case 6:
		return r.Uint64()
	case 7:
		return int8(r.Uint32())
	case 8:
		return int16(r.Uint32())
	case 9:
		return int32(r.IntN(400) - 200)
	case 10:
		return int32(r.Uint32())
	case 11:
		return int64(r.IntN(400) - 200)
	case 12:
		return r.Int64()
	case 13:
		return r.Float32()
	case 14:
		return r.NormFloat64()
	case 15:
		return Timestamp(r.Int64N(1 << 42))
	case 16:
		return UUID{byte(r.Uint32()), 15: byte(r.Uint32())}
	case 17:
		return randomText(r)
	case 18:
		return []byte(randomText(r))
	case 19:
		return List{randomValue(r, levels-1), nil, randomValue(r, levels-1)}
	case 20:
		return randomMap(r, levels-1)
	case 21:
		return Array{TypeLong, []any{r.Int64(), int64(3)}}
	}
	return Array{TypeString, []any{randomText(r), randomText(r)}}
}

func randomText(r *rand.Rand) string {
	return strings.Repeat("é", 1+r.IntN(3)) + strings.Repeat("x", r.IntN(2)*r.IntN(600))
}

func randomMap(r *rand.Rand, levels int) Map {
	m := Map{}
	for _, key := range []string{"a", "b", "c"}[:1+r.IntN(3)] {
		m = append(m, Entry{key, randomValue(r, levels)})
	}
	return m
}

// clients converts a value to the client's type.
func clients(v any) any {
	switch v := v.(type) {
	case Timestamp:
		return time.UnixMilli(int64(v))
	case UUID:
		return amqp.UUID(v)
	case Symbol:
		return string(v)
	case List:
		all := make([]any, len(v))
		for i := range v {
			all[i] = clients(v[i])
		}
		return all
	case Map:
		all := make(map[string]any, len(v))
		for _, e := range v {
			all[clients(e.Key).(string)] = clients(e.Value)
		}
		return all
	case Array:
		if v.Of == TypeLong {
			return []int64{v.Values[0].(int64), v.Values[1].(int64)}
		}
		return []string{v.Values[0].(string), v.Values[1].(string)}
	}
	return v
}

// clientsAnnotations converts annotations to the client's type.
func clientsAnnotations(v Value) amqp.Annotations {
	if v == nil {
		return nil
	}
	all := amqp.Annotations{}
	for key, value := range v.Entries() {
		text, _ := key.Text()
		all[string(text)] = clients(value.Decode())
	}
	return all
}

// randomMessage encodes a message of random sections with our codec.
func randomMessage(t *testing.T, r *rand.Rand) []byte {
	var b []byte
	some := func() bool { return r.IntN(2) == 0 }
	annotations := func(code uint64) {
		if some() {
			m := randomMap(r, 3)
			for i := range m {
				m[i].Key = Symbol(m[i].Key.(string))
			}
			b = append(b, section(t, code, m)...)
		}
	}
	if some() {
		b = AppendComposite(b, &Header{Durable: some(), Priority: Some(uint8(r.IntN(10))), TTL: Some(1 + r.Uint32N(1<<30)), FirstAcquirer: some(), DeliveryCount: r.Uint32N(3)})
	}
	annotations(SectionDeliveryAnnotations)
	annotations(SectionMessageAnnotations)
	if some() {
		p := Properties{MessageID: encode(t, []any{uint64(7), UUID{3}, []byte{1}, "id"}[r.IntN(4)]), Subject: Text(randomText(r)), CreationTime: Some(Timestamp(r.Int64N(1 << 42)))}
		if some() {
			p.UserID, p.To, p.ReplyTo, p.CorrelationID = []byte("guest"), Text("/queues/q"), Text("me"), encode(t, randomText(r))
			p.ContentType, p.ContentEncoding, p.AbsoluteExpiryTime = SymbolText("text/plain"), SymbolText("gzip"), Some(Timestamp(1))
			p.GroupID, p.GroupSequence, p.ReplyToGroupID = Text(randomText(r)), Some(r.Uint32()), Text("")
		}
		b = AppendComposite(b, &p)
	}
	if some() {
		b = append(b, section(t, SectionApplicationProperties, randomMap(r, 1))...)
	}
	switch r.IntN(3) {
	case 0:
		for range 1 + r.IntN(3) {
			b = append(b, section(t, SectionData, []byte(randomText(r)))...)
		}
	case 1:
		b = append(b, section(t, SectionValue, randomValue(r, 4))...)
	case 2:
		for range 1 + r.IntN(3) {
			b = append(b, section(t, SectionSequence, List{randomValue(r, 3)})...)
		}
	}
	annotations(SectionFooter)
	return b
}

// clientsMessage decodes a message with our codec and converts it to the client's type.
func clientsMessage(t *testing.T, b []byte) *amqp.Message {
	t.Helper()
	s, err := ScanSections(b)
	if err != nil {
		t.Fatalf("%x: %v", b, err)
	}
	m := &amqp.Message{
		DeliveryAnnotations: clientsAnnotations(s.DeliveryAnnotations), Annotations: clientsAnnotations(s.MessageAnnotations),
		Footer: clientsAnnotations(s.Footer),
	}
	h, err := s.Header()
	if err != nil {
		t.Fatal(err)
	}
	if s.header != nil {
		m.Header = &amqp.MessageHeader{
			Durable: h.Durable, Priority: h.Priority.Or(4), TTL: time.Duration(h.TTL.Value) * time.Millisecond,
			FirstAcquirer: h.FirstAcquirer, DeliveryCount: h.DeliveryCount,
		}
	}
	if s.properties != nil {
		m.Properties = clientsProperties(t, &s)
	}
	if s.ApplicationProperties != nil {
		m.ApplicationProperties = clients(s.ApplicationProperties.Decode()).(map[string]any)
	}
	for _, v := range s.BodyValues() {
		switch s.BodyKind {
		case SectionData:
			m.Data = append(m.Data, v.Decode().([]byte))
		case SectionSequence:
			m.Sequence = append(m.Sequence, clients(v.Decode()).([]any))
		default:
			m.Value = clients(v.Decode())
		}
	}
	return m
}

func clientsProperties(t *testing.T, s *Sections) *amqp.MessageProperties {
	var p Properties
	if err := s.Properties(&p); err != nil {
		t.Fatal(err)
	}
	text := func(b []byte) *string {
		if b == nil {
			return nil
		}
		s := string(b)
		return &s
	}
	moment := func(ts Optional[Timestamp]) *time.Time {
		if !ts.Set {
			return nil
		}
		at := clients(ts.Value).(time.Time)
		return &at
	}
	got := &amqp.MessageProperties{
		MessageID: clients(p.MessageID.Decode()), UserID: p.UserID, To: text(p.To), Subject: text(p.Subject), ReplyTo: text(p.ReplyTo),
		CorrelationID: clients(p.CorrelationID.Decode()), ContentType: text(p.ContentType), ContentEncoding: text(p.ContentEncoding),
		AbsoluteExpiryTime: moment(p.AbsoluteExpiryTime), CreationTime: moment(p.CreationTime), GroupID: text(p.GroupID), ReplyToGroupID: text(p.ReplyToGroupID),
	}
	if p.GroupSequence.Set {
		got.GroupSequence = &p.GroupSequence.Value
	}
	return got
}

func TestClientReadsWhatWeEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range randomMessages {
		b := randomMessage(t, r)
		want := clientsMessage(t, b)
		got := new(amqp.Message)
		if err := got.UnmarshalBinary(bytes.Clone(b)); err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%x: the client has\n%+v, we\n%+v", b, got, want)
		}
	}
}

func TestWeReadWhatTheClientEncodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range randomMessages {
		want := clientsMessage(t, randomMessage(t, r))
		b, err := want.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if got := clientsMessage(t, b); !reflect.DeepEqual(got, want) {
			t.Fatalf("%x: we have\n%+v, the client\n%+v", b, got, want)
		}
	}
}
