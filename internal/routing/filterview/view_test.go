package filterview

import (
	"testing"

	"candlemark/internal/routing/filter"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

func TestOfMessagesOf091(t *testing.T) {
	p := protocol.Properties{Flags: protocol.FlagType | protocol.FlagAppID, Type: "label", AppID: "session", ReplyTo: "not set"}
	f := Of(&p, nil)
	want := [filter.Fields]filter.Value{filter.Label: filter.TextOf("label"), filter.SessionID: filter.TextOf("session")}
	if f != want {
		t.Errorf("%+v", f)
	}
}

func TestOfMessagesOf10(t *testing.T) {
	encoded := amqp10.AppendComposite(nil, &amqp10.Properties{
		Subject: amqp10.Text("label"), To: amqp10.Text("there"), ReplyToGroupID: amqp10.Text("back"), GroupID: amqp10.Text("session"),
	})
	encoded = append(amqp10.AppendDataHead(encoded, 1), 'x')
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := convert.To091(&s, new(amqp10.Properties))
	if err != nil {
		t.Fatal(err)
	}
	raw := protocol.WithOriginal(convert.AppendOriginal(p.Append(nil), encoded, &s), len(p.Append(nil)))
	if p, err = protocol.DecodeProperties(raw); err != nil {
		t.Fatal(err)
	}
	_, original := protocol.SplitOriginal(raw)
	f := Of(&p, original)
	want := [filter.Fields]filter.Value{
		filter.Label: filter.TextOf("label"), filter.SessionID: filter.TextOf("session"), filter.To: filter.TextOf("there"),
		filter.ReplyToSessionID: filter.TextOf("back"),
	}
	if f != want {
		t.Errorf("%+v", f)
	}
}

func TestMessage(t *testing.T) {
	var m Message
	m.Load([filter.Fields]filter.Value{filter.Label: filter.TextOf("l")}, protocol.Table{{Key: "Color", Value: "red"}, {Key: "COLOR", Value: int32(5)}})
	e, err := filter.Parse("cOlOr = 5 AND sys.Label = 'l'", nil)
	if err != nil {
		t.Fatal(err)
	}
	if yes, _ := e.Match(&m); !yes {
		t.Error("not selected")
	}
	if m.Load([filter.Fields]filter.Value{}, nil); m.User("color").Kind != filter.Absent {
		t.Error("the last message is still there")
	}
}
