package filterview

import (
	"strings"

	"candlemark/internal/routing/filter"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// Of returns the fields of a message, the zero Value for missing ones. In 0-9-1 the label is the type and the session
// the app-id; to and reply-to-session are missing. Fields of AMQP 1.0 come from its original, nil for none, whose texts
// are copied.
func Of(p *protocol.Properties, original []byte) (f [filter.Fields]filter.Value) {
	for _, one := range [...]struct {
		field filter.Field
		flag  uint16
		text  string
	}{
		{filter.ContentType, protocol.FlagContentType, p.ContentType},
		{filter.CorrelationID, protocol.FlagCorrelationID, p.CorrelationID},
		{filter.Label, protocol.FlagType, p.Type},
		{filter.MessageID, protocol.FlagMessageID, p.MessageID},
		{filter.ReplyTo, protocol.FlagReplyTo, p.ReplyTo},
		{filter.SessionID, protocol.FlagAppID, p.AppID},
	} {
		if p.Has(one.flag) {
			f[one.field] = filter.TextOf(one.text)
		}
	}
	if from, ok := convert.OriginalProperties(original); ok {
		f[filter.Label], f[filter.To], f[filter.ReplyToSessionID] = text(from.Subject), text(from.To), text(from.ReplyToGroupID)
	}
	return f
}

// text returns a text as a Value, the zero Value if it is absent.
func text(of amqp10.Text) filter.Value {
	if of == nil {
		return filter.Value{}
	}
	return filter.TextOf(string(of))
}

// Message is a message for SQL filters. The zero value is empty; call Load.
type Message struct {
	system [filter.Fields]filter.Value
	user   map[string]filter.Value // by names in lower case
}

// Load takes the next message. Of headers whose names differ only in case, the last counts.
func (m *Message) Load(system [filter.Fields]filter.Value, headers protocol.Table) {
	m.system = system
	if m.user == nil {
		m.user = make(map[string]filter.Value, len(headers))
	}
	clear(m.user)
	for _, h := range headers {
		m.user[strings.ToLower(h.Key)] = filter.Of(h.Value)
	}
}

// System implements filter.Message.
func (m *Message) System(f filter.Field) filter.Value { return m.system[f] }

// User implements filter.Message.
func (m *Message) User(lower string) filter.Value { return m.user[lower] }
