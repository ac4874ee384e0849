package parameters

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"candlemark/protocol"
)

// adminExchange takes admin commands, which schedules cannot send.
const adminExchange = "candlemark.admin"

// readTarget reads where messages go (REC-5).
func (s *ScheduleSpec) readTarget(r *scheduleReader) {
	queue, toQueue := r.text("queue", 255)
	exchange, toExchange := r.text("exchange", 255)
	key, keyed := r.text("routing_key", 255)
	switch {
	case toQueue == toExchange:
		r.fail("a schedule needs a queue or an exchange as its target")
	case toQueue && keyed:
		r.fail("routing_key needs an exchange")
	case toQueue && queue == "":
		r.fail("the name of the queue is empty")
	case exchange == adminExchange:
		r.fail("schedules cannot send admin commands")
	}
	if s.ToQueue = toQueue; toQueue {
		exchange, key = "", queue
	}
	s.Exchange, s.Key = exchange, key
}

// WithoutMessage returns the value of a schedule without the keys of its message (REC-12).
func WithoutMessage(value json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil {
		return nil // of another version
	}
	for _, key := range []string{"body", "body_base64", "properties", "headers"} {
		delete(fields, key)
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return rest
}

// readContent reads the message (REC-5, REC-6).
func (s *ScheduleSpec) readContent(r *scheduleReader) {
	body, plain := r.text("body", MaxScheduled)
	encoded, binary := r.text("body_base64", MaxScheduled*2)
	s.Templates = r.flag("templates")
	s.Body = []byte(body)
	switch {
	case plain && binary:
		r.fail("a schedule has one of body and body_base64")
	case binary:
		var err error
		if s.Body, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			r.fail("body_base64 is not base64")
		}
		if len(s.Body) > MaxScheduled {
			r.fail("body_base64 has more than %d bytes", MaxScheduled)
		}
	}
	s.readProperties(r)
	if s.Templates {
		s.eachText(func(_, text string) string {
			if _, err := ExpandTemplate(text, nil); err != nil {
				r.fail("%w", err)
			}
			return text
		})
	}
}

// readProperties reads properties and headers, as of a publish over HTTP.
func (s *ScheduleSpec) readProperties(r *scheduleReader) {
	var fields map[string]json.RawMessage
	r.into("properties", &fields, "an object")
	p, given := &s.Properties, &scheduleReader{fields: fields}
	for _, x := range []struct {
		key  string
		flag uint16
		to   *string
	}{
		{"content_type", protocol.FlagContentType, &p.ContentType},
		{"content_encoding", protocol.FlagContentEncoding, &p.ContentEncoding},
		{"correlation_id", protocol.FlagCorrelationID, &p.CorrelationID},
		{"reply_to", protocol.FlagReplyTo, &p.ReplyTo},
		{"type", protocol.FlagType, &p.Type},
		{"app_id", protocol.FlagAppID, &p.AppID},
	} {
		if text, has := given.text(x.key, 255); has {
			*x.to = text
			p.Flags |= x.flag
		}
	}
	if given.fields["user_id"] != nil {
		given.fail("the property user_id cannot be set: messages are published by the schedule's user")
	}
	for _, key := range []string{"message_id", "timestamp"} {
		if given.fields[key] != nil {
			given.fail("the broker sets the property %s", key)
		}
	}
	if given.fields["expiration"] != nil {
		given.fail("use the key expires of the schedule instead of the property expiration")
	}
	p.DeliveryMode, p.Flags = 2, p.Flags|protocol.FlagDeliveryMode
	if given.into("delivery_mode", &p.DeliveryMode, "1 or 2") && p.DeliveryMode != 1 && p.DeliveryMode != 2 {
		given.fail("delivery_mode is not 1 or 2")
	}
	if given.into("priority", &p.Priority, "a number up to 255") {
		p.Flags |= protocol.FlagPriority
	}
	s.readHeaders(r, given.take("headers"))
	for key := range given.fields {
		given.fail("unknown property '%s'", key)
	}
	if given.err != nil {
		r.fail("%w", given.err)
	}
}

// readHeaders reads the headers, which are a key of the schedule or of its properties.
func (s *ScheduleSpec) readHeaders(r *scheduleReader, inProperties json.RawMessage) {
	raw := r.take("headers")
	if raw == nil {
		raw = inProperties
	} else if inProperties != nil {
		r.fail("headers are given twice")
	}
	all, err := arguments(raw)
	if err != nil || raw != nil && all == nil {
		r.fail("headers is not an object of texts, numbers, truths, lists and objects")
		return
	}
	for key := range all {
		switch lower := strings.ToLower(key); {
		case strings.HasPrefix(lower, scheduleHeader):
			r.fail("the broker sets the header %s", key)
		case lower == "cc" || lower == "bcc":
			r.fail("schedules do not support the header %s: bind more queues to an exchange", key)
		case len(key) > 128:
			r.fail("the name of a header has more than 128 bytes")
		}
	}
	if s.Properties.Headers = tableOf(all); len(all) > 0 {
		s.Properties.Flags |= protocol.FlagHeaders
	}
}

// tableOf converts the values of arguments to those of a table.
func tableOf(all map[string]any) (t protocol.Table) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		t = append(t, protocol.Field{Key: key, Value: fieldOf(all[key])})
	}
	return t
}

func fieldOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return tableOf(v)
	case []any:
		a := protocol.Array{}
		for _, one := range v {
			a = append(a, fieldOf(one))
		}
		return a
	}
	return value
}

// eachText calls f for each text that may have templates, with a name for it, and replaces the text by the result.
func (s *ScheduleSpec) eachText(f func(name, text string) string) {
	s.Body = []byte(f("body", string(s.Body)))
	if !s.ToQueue {
		s.Key = f("routing_key", s.Key)
	}
	if s.Properties.Has(protocol.FlagCorrelationID) {
		s.Properties.CorrelationID = f("correlation_id", s.Properties.CorrelationID)
	}
	for i, h := range s.Properties.Headers {
		if text, is := h.Value.(string); is {
			s.Properties.Headers[i].Value = f(h.Key, text)
		}
	}
}

// Expand returns a copy with the values of templates, by name (REC-6).
func (s *ScheduleSpec) Expand(value func(name string) string) *ScheduleSpec {
	if !s.Templates {
		return s
	}
	c := *s
	c.Properties.Headers = slices.Clone(s.Properties.Headers)
	c.eachText(func(_, text string) string {
		expanded, err := ExpandTemplate(text, value)
		if err != nil { // it was checked
			return text
		}
		return expanded
	})
	return &c
}
