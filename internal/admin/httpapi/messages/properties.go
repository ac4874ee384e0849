package messages

import (
	"encoding/json"
	"math"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/protocol"
)

// property is a property with a text value.
type property struct {
	name string
	flag uint16
	text func(*protocol.Properties) *string
}

var textProperties = []property{
	{"content_type", protocol.FlagContentType, func(p *protocol.Properties) *string { return &p.ContentType }},
	{"content_encoding", protocol.FlagContentEncoding, func(p *protocol.Properties) *string { return &p.ContentEncoding }},
	{"correlation_id", protocol.FlagCorrelationID, func(p *protocol.Properties) *string { return &p.CorrelationID }},
	{"reply_to", protocol.FlagReplyTo, func(p *protocol.Properties) *string { return &p.ReplyTo }},
	{"expiration", protocol.FlagExpiration, func(p *protocol.Properties) *string { return &p.Expiration }},
	{"message_id", protocol.FlagMessageID, func(p *protocol.Properties) *string { return &p.MessageID }},
	{"type", protocol.FlagType, func(p *protocol.Properties) *string { return &p.Type }},
	{"user_id", protocol.FlagUserID, func(p *protocol.Properties) *string { return &p.UserID }},
	{"app_id", protocol.FlagAppID, func(p *protocol.Properties) *string { return &p.AppID }},
	{"cluster_id", protocol.FlagClusterID, func(p *protocol.Properties) *string { return &p.ClusterID }},
}

// shownProperties returns the properties that a message has.
func shownProperties(p *protocol.Properties) forms.Object {
	shown := forms.Object{}
	for _, t := range textProperties {
		if p.Has(t.flag) {
			shown = append(shown, protocol.Field{Key: t.name, Value: *t.text(p)})
		}
	}
	if p.Has(protocol.FlagHeaders) {
		shown = append(shown, protocol.Field{Key: "headers", Value: p.Headers})
	}
	for _, n := range []struct {
		name  string
		flag  uint16
		value uint64
	}{
		{"delivery_mode", protocol.FlagDeliveryMode, uint64(p.DeliveryMode)},
		{"priority", protocol.FlagPriority, uint64(p.Priority)},
		{"timestamp", protocol.FlagTimestamp, uint64(p.Timestamp)},
	} {
		if p.Has(n.flag) {
			shown = append(shown, protocol.Field{Key: n.name, Value: protocol.Timestamp(n.value)})
		}
	}
	return shown
}

// propertiesOf reads the properties of a publish. Unknown keys are ignored.
func propertiesOf(b *rest.Body) (p protocol.Properties) {
	given := &rest.Body{}
	if json.Unmarshal(b.Fields["properties"], &given.Fields) != nil && string(b.Fields["properties"]) != "[]" {
		given.Fail(rest.Complaint("properties must be an object"))
	}
	for _, t := range textProperties {
		if !given.Has(t.name) {
			continue
		}
		*t.text(&p) = given.Text(t.name)
		if len(*t.text(&p)) > math.MaxUint8 {
			given.Fail(rest.TupleOf("too_long", t.name))
		}
		p.Flags |= t.flag
	}
	if given.Has("headers") {
		p.Headers = given.Table("headers")
		p.Flags |= protocol.FlagHeaders
	}
	for _, n := range []struct {
		name string
		flag uint16
		max  uint64
		set  func(uint64)
	}{
		{"delivery_mode", protocol.FlagDeliveryMode, math.MaxUint8, func(v uint64) { p.DeliveryMode = uint8(v) }},
		{"priority", protocol.FlagPriority, math.MaxUint8, func(v uint64) { p.Priority = uint8(v) }},
		{"timestamp", protocol.FlagTimestamp, math.MaxUint64, func(v uint64) { p.Timestamp = protocol.Timestamp(v) }},
	} {
		if !given.Has(n.name) {
			continue
		}
		var v uint64
		if json.Unmarshal(given.Fields[n.name], &v) != nil || v > n.max {
			given.Fail(rest.TupleOf("not_int", n.name))
		}
		n.set(v)
		p.Flags |= n.flag
	}
	b.Fail(given.Err)
	return p
}
