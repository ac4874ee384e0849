package ruleaction

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/filterview"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// Apply turns m into the copy that an action asks for, without writing to m's slices. It returns false and leaves m
// unchanged if the action has Failed, if the copy's properties would be too large, or if properties cannot be decoded or encoded.
func Apply(a *filter.Action, m *message.Message) bool {
	if a.Failed {
		return false
	}
	p, err := protocol.DecodeProperties(m.Header)
	if err != nil {
		return false
	}
	_, original := protocol.SplitOriginal(m.Header)
	seen := p
	if m.Overlay != nil { // properties that the broker added are included
		raw, err := m.Overlay.Header(m.Header)
		if err != nil {
			return false
		}
		if seen, err = protocol.DecodeProperties(raw); err != nil {
			return false
		}
	}
	var as filterview.Message
	as.Load(filterview.Of(&seen, original), seen.Headers)
	c := copied{properties: &p}
	for _, change := range a.Run(&as) {
		if !c.take(change) {
			return false
		}
	}
	header, ok := c.header(original)
	if !ok {
		return false
	}
	m.Header, m.Overlay, m.Share = header, m.Overlay.Without(c.changes), nil
	return true
}

// copied collects the changes to one message.
type copied struct {
	properties *protocol.Properties
	names      []string // of application properties that have changed
	set        protocol.Table
	fields     [filter.Fields]bool // the fields that have changed
	texts      [filter.Fields][]byte
}

// take records a change; it returns false if the change is not possible.
func (c *copied) take(change filter.Change) bool {
	if change.System {
		text := textOf(change.Value)
		c.fields[change.Field], c.texts[change.Field] = true, text
		return len(text) <= filter.MaxField && utf8.Valid(text)
	}
	c.names = append(c.names, change.Name)
	if change.Value.Kind != filter.Absent {
		c.set = append(c.set, protocol.Field{Key: change.Name, Value: change.Value.Any()})
	}
	return len(change.Name) <= filter.MaxField
}

// textOf returns the text to which a field is set, nil if the field is removed.
func textOf(v filter.Value) []byte {
	switch v.Kind {
	case filter.Text:
		return append([]byte{}, v.Text...)
	case filter.Int:
		return strconv.AppendInt(nil, v.Int, 10)
	case filter.Float:
		return strconv.AppendFloat(nil, v.Float, 'g', -1, 64)
	case filter.Bool:
		return strconv.AppendBool(nil, v.Int != 0)
	case filter.Time:
		return strconv.AppendInt(nil, v.Int, 10)
	case filter.Absent, filter.Null, filter.Other:
	}
	return nil
}

// changes reports whether the application property of that name has changed.
func (c *copied) changes(name string) bool {
	return slices.ContainsFunc(c.names, func(one string) bool { return strings.EqualFold(one, name) })
}

// header returns the property list with the changes, and with the original if there is one.
func (c *copied) header(original []byte) ([]byte, bool) {
	p := c.properties
	p.Headers = append(slices.DeleteFunc(p.Headers, func(f protocol.Field) bool { return c.changes(f.Key) }), c.set...)
	if p.Flags &^= protocol.FlagHeaders; len(p.Headers) > 0 {
		p.Flags |= protocol.FlagHeaders
	}
	for _, one := range [...]struct {
		field filter.Field
		flag  uint16
		text  *string
	}{
		{filter.ContentType, protocol.FlagContentType, &p.ContentType},
		{filter.CorrelationID, protocol.FlagCorrelationID, &p.CorrelationID},
		{filter.MessageID, protocol.FlagMessageID, &p.MessageID},
		{filter.ReplyTo, protocol.FlagReplyTo, &p.ReplyTo},
		{filter.SessionID, protocol.FlagAppID, &p.AppID},
		{filter.Label, protocol.FlagType, &p.Type},
	} {
		if !c.fields[one.field] || one.field == filter.Label && original != nil { // whose label is not the type
			continue
		}
		*one.text = string(c.texts[one.field])
		if p.Flags &^= one.flag; c.texts[one.field] != nil {
			p.Flags |= one.flag
		}
	}
	if _, err := protocol.AppendTable(nil, p.Headers); err != nil {
		return nil, false
	}
	list := p.Append(nil)
	if len(list) > message.MaxHeader {
		return nil, false
	}
	if original == nil {
		return list, true
	}
	original, ok := convert.Changed(original, c.change, c.changes, convert.Map(c.set))
	if !ok {
		return nil, false
	}
	begin := len(list)
	return protocol.WithOriginal(append(list, original...), begin), true
}

// change applies the changes to the properties section of AMQP 1.0.
func (c *copied) change(p *amqp10.Properties) {
	set := func(f filter.Field, to *amqp10.Text) {
		if c.fields[f] {
			*to = c.texts[f]
		}
	}
	id := func(f filter.Field, to *amqp10.Value) {
		if !c.fields[f] {
			return
		}
		if *to = nil; c.texts[f] != nil {
			*to = amqp10.AppendString(nil, string(c.texts[f]))
		}
	}
	id(filter.CorrelationID, &p.CorrelationID)
	id(filter.MessageID, &p.MessageID)
	set(filter.Label, &p.Subject)
	set(filter.ReplyTo, &p.ReplyTo)
	set(filter.ReplyToSessionID, &p.ReplyToGroupID)
	set(filter.SessionID, &p.GroupID)
	set(filter.To, &p.To)
	if c.fields[filter.ContentType] {
		p.ContentType = c.texts[filter.ContentType]
	}
}
