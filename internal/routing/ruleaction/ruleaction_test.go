package ruleaction

import (
	"strings"
	"testing"

	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/filterview"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func action(t *testing.T, text string) *filter.Action {
	t.Helper()
	a, err := filter.ParseAction(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Rule = "r"
	return a
}

func properties(t *testing.T, m *message.Message) (p protocol.Properties, original []byte) {
	t.Helper()
	p, err := protocol.DecodeProperties(m.Header)
	if err != nil {
		t.Fatal(err)
	}
	_, original = protocol.SplitOriginal(m.Header)
	return p, original
}

const everything = "SET sys.Label = 'label'; SET sys.To = 'to'; SET sys.ReplyTo = 're'; SET sys.CorrelationId = 5; SET sys.MessageId = sys.MessageId + '!'; " +
	"SET sys.SessionId = color; SET sys.ReplyToSessionId = 's'; REMOVE sys.ContentType; SET Quantity = quantity * 2; REMOVE user.color; SET fresh = TRUE"

func sent() protocol.Properties {
	return protocol.Properties{
		Flags: protocol.FlagHeaders | protocol.FlagMessageID | protocol.FlagContentType | protocol.FlagPriority, MessageID: "m", ContentType: "text", Priority: 5,
		Headers: protocol.Table{{Key: "color", Value: "red"}, {Key: "quantity", Value: int32(10)}, {Key: "other", Value: protocol.Array{int32(1)}}},
	}
}

// An action sees and changes the properties of a message of 0-9-1.
func TestApply_SBR6(t *testing.T) {
	raw := sent().Append(nil)
	m := message.Message{Header: raw, Body: []byte("body"), Priority: 5, Share: message.NewShare(1)}
	if !Apply(action(t, everything), &m) {
		t.Fatal("refused")
	}
	p, original := properties(t, &m)
	want := protocol.Properties{
		Flags:     protocol.FlagHeaders | protocol.FlagMessageID | protocol.FlagPriority | protocol.FlagType | protocol.FlagReplyTo | protocol.FlagCorrelationID | protocol.FlagAppID,
		MessageID: "m!", Priority: 5, Type: "label", ReplyTo: "re", CorrelationID: "5", AppID: "red",
		Headers: protocol.Table{
			{Key: "other", Value: protocol.Array{int32(1)}}, {Key: "Quantity", Value: int64(20)}, {Key: "fresh", Value: true}, {Key: "RuleName", Value: "r"},
		},
	}
	if string(p.Append(nil)) != string(want.Append(nil)) || original != nil || m.Share != nil || string(raw) != string(sent().Append(nil)) {
		t.Errorf("%+v\nwant %+v", p, want)
	}
}

// An action sees and changes all sections of a message of AMQP 1.0; the body is kept.
func TestApplyOriginal_SBR6(t *testing.T) {
	bare := amqp10.AppendComposite(nil, &amqp10.Properties{MessageID: amqp10.AppendString(nil, "m"), Subject: amqp10.Text("old"), GroupSequence: amqp10.Some(uint32(9))})
	application, err := amqp10.Append(nil, amqp10.Map{{Key: "color", Value: "red"}, {Key: "quantity", Value: int32(10)}, {Key: "id", Value: amqp10.UUID{1}}})
	if err != nil {
		t.Fatal(err)
	}
	bare = append(amqp10.AppendDataHead(amqp10.AppendSection(bare, amqp10.SectionApplicationProperties, application), 4), "body"...)
	s, err := amqp10.ScanSections(bare)
	if err != nil {
		t.Fatal(err)
	}
	list := sent().Append(nil)
	m := message.Message{Header: protocol.WithOriginal(convert.AppendOriginal(list, bare, &s), len(list)), Body: []byte("body")}
	if !Apply(action(t, everything), &m) {
		t.Fatal("refused")
	}
	p, original := properties(t, &m)
	sent, ok := convert.OriginalProperties(original)
	if !ok || !convert.Fits(original, m.Body) || p.Has(protocol.FlagType) || p.AppID != "red" {
		t.Fatalf("%+v, %q", p, original)
	}
	fields := filterview.Of(&p, original)
	for f, want := range map[filter.Field]string{
		filter.Label: "label", filter.To: "to", filter.ReplyTo: "re", filter.CorrelationID: "5", filter.MessageID: "m!", filter.SessionID: "red", filter.ReplyToSessionID: "s", filter.ContentType: "",
	} {
		if fields[f].Text != want {
			t.Errorf("%s is %q, want %q", f, fields[f].Text, want)
		}
	}
	id, _ := sent.MessageID.Decode().(string)
	if correlation, _ := sent.CorrelationID.Decode().(string); id != "m!" || correlation != "5" || string(sent.GroupID) != "red" || string(sent.ReplyTo) != "re" || sent.GroupSequence.Value != 9 || sent.ContentType != nil {
		t.Errorf("%+v", sent)
	}
	_, rest := convert.Append(nil, nil, &convert.Message{Properties: p, Original: original, Body: m.Body}, convert.Delivery{})
	var whole []byte
	for _, piece := range rest {
		whole = append(whole, piece...)
	}
	if s, err = amqp10.ScanSections(whole); err != nil {
		t.Fatal(err)
	}
	all, _ := s.ApplicationProperties.Decode().(amqp10.Map)
	got := map[any]any{}
	for _, e := range all {
		got[e.Key] = e.Value
	}
	if len(got) != 4 || got["id"] != (amqp10.UUID{1}) || got["Quantity"] != int64(20) || got["fresh"] != true || got["RuleName"] != "r" {
		t.Errorf("%v", got)
	}
}

// Properties that were added by amendments are visible to the action, and can be replaced.
func TestApplyAmended_SBR6(t *testing.T) {
	m := message.Message{Header: sent().Append(nil)}
	m.Overlay = m.Overlay.Amended(nil, protocol.Table{{Key: "color", Value: "blue"}, {Key: "kept", Value: true}})
	if !Apply(action(t, "SET was = COLOR; SET color = 'green'"), &m) {
		t.Fatal("refused")
	}
	raw, err := m.Overlay.Header(m.Header)
	if err != nil {
		t.Fatal(err)
	}
	p, err := protocol.DecodeProperties(raw)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"was": "blue", "color": "green", "kept": true} {
		if got, _ := p.Headers.Get(key); got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
}

// If the properties of a copy are too large, no copy is made, and the message is unchanged.
func TestApplyIsBounded_SBR6(t *testing.T) {
	p := sent()
	p.Headers = append(p.Headers, protocol.Field{Key: "large", Value: strings.Repeat("x", message.MaxHeader-100)})
	for name, one := range map[string]struct{ text, header string }{
		"a list":           {"SET a = '" + strings.Repeat("x", 200) + "'", string(p.Append(nil))},
		"a field":          {"SET sys.Label = '" + strings.Repeat("x", filter.MaxField+1) + "'", string(sent().Append(nil))},
		"no text":          {"SET sys.Label = '\xff'", string(sent().Append(nil))},
		"broken":           {"SET a = 1", "\xff"},
		"the name is long": {"SET " + strings.Repeat("x", filter.MaxField+1) + " = 1", string(sent().Append(nil))},
	} {
		m := message.Message{Header: []byte(one.header)}
		if Apply(action(t, one.text), &m) || string(m.Header) != one.header {
			t.Errorf("%s: taken", name)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	a, _ := filter.ParseAction("SET quantity = quantity * 2; SET sys.Label = 'x'", nil)
	raw := sent().Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		m := message.Message{Header: raw}
		Apply(a, &m)
	}
}
