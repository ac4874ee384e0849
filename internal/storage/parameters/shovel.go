package parameters

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"
)

// ShovelSpec is the task of a shovel.
type ShovelSpec struct {
	Name, VHost string
	From        Source
	To          Destination
	AckMode     string        // OnConfirm, OnPublish or NoAck
	Reconnect   time.Duration // 0: it does not
	Forwarded   bool          // a header records the path of each message
	Timestamped bool          // a header records the time of each move
	Properties  Properties    // that each message is given
}

// Source is where messages come from: a queue, or an exchange.
type Source struct {
	URIs           []*URI
	Queue          string
	QueueArguments map[string]any
	Exchange, Key  string
	Consumer       map[string]any // arguments of basic.consume
	Prefetch       int            // 1 to MaxPrefetch
	Until          Until
	Predeclared    bool
}

// Destination is where they go to.
type Destination struct {
	URIs           []*URI
	Queue          string // "" for an exchange
	QueueArguments map[string]any
	Exchange, Key  *string // nil: each message keeps its own
	Predeclared    bool
}

// Properties are given to messages; nil leaves them unchanged.
type Properties struct {
	ContentType, ContentEncoding, CorrelationID, ReplyTo, Expiration, MessageID, Type, UserID, AppID *string
	DeliveryMode, Priority                                                                           *uint8
	Timestamp                                                                                        *int64 // s since 1970
}

// Until says when a shovel is done.
type Until struct {
	// Length: when as many are moved as there were at the start.
	Length bool
	// Count: when so many are moved; negative for never.
	Count int64
}

// The bounds of a shovel's window, in messages.
const (
	usualPrefetch = 1000
	MaxPrefetch   = 10_000
)

// usualReconnect is how long a shovel waits after a failure.
const usualReconnect = 5 * time.Second

// ParseShovel reads a value that Validate has found nothing wrong with. Error: it is for AMQP 1.0, which is not spoken here.
func ParseShovel(vhost, name string, value json.RawMessage) (*ShovelSpec, error) {
	var f map[string]json.RawMessage
	if err := json.Unmarshal(value, &f); err != nil {
		return nil, err
	}
	if slices.Contains([]string{text(f["src-protocol"]), text(f["dest-protocol"])}, amqp10) {
		return nil, errors.New("shovels do not support AMQP 1.0 here: use amqp091")
	}
	w := &ShovelSpec{
		Name: name, VHost: vhost, AckMode: OnConfirm, Reconnect: usualReconnect,
		Forwarded:   isTrue(either(f, "dest-add-forward-headers", "add-forward-headers")),
		Timestamped: isTrue(either(f, "dest-add-timestamp-header", "add-timestamp-header")),
	}
	if mode := f["ack-mode"]; mode != nil {
		w.AckMode = text(mode)
	}
	if s, ok := float(f["reconnect-delay"]); ok {
		w.Reconnect = time.Duration(max(0, min(s, 1e6)) * float64(time.Second))
	}
	return w, errors.Join(w.From.read(f), w.To.read(f), w.Properties.read(either(f, "dest-publish-properties", "publish-properties")))
}

func (s *Source) read(f map[string]json.RawMessage) (err error) {
	s.Queue, s.Exchange, s.Key = text(f["src-queue"]), text(f["src-exchange"]), text(f["src-exchange-key"])
	s.Predeclared, s.Prefetch = isTrue(f["src-predeclared"]), usualPrefetch
	if n, ok := float(either(f, "src-prefetch-count", "prefetch-count")); ok {
		if s.Prefetch = int(min(n, MaxPrefetch)); s.Prefetch <= 0 {
			s.Prefetch = MaxPrefetch
		}
	}
	s.Until, _ = after(either(f, "src-delete-after", "delete-after"))
	if s.URIs, err = urisOf(f["src-uri"]); err != nil {
		return err
	}
	if s.QueueArguments, err = arguments(f["src-queue-args"]); err == nil {
		s.Consumer, err = arguments(f["src-consumer-args"])
	}
	return err
}

func (d *Destination) read(f map[string]json.RawMessage) (err error) {
	d.Queue, d.Predeclared = text(f["dest-queue"]), isTrue(f["dest-predeclared"])
	d.Exchange, d.Key = textIfAny(f["dest-exchange"]), textIfAny(f["dest-exchange-key"])
	if d.URIs, err = urisOf(f["dest-uri"]); err == nil {
		d.QueueArguments, err = arguments(f["dest-queue-args"])
	}
	return err
}

func (p *Properties) read(value json.RawMessage) error {
	var f map[string]json.RawMessage
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(value, &f); err != nil {
		return err
	}
	for key, to := range map[string]**string{
		"content_type": &p.ContentType, "content_encoding": &p.ContentEncoding, "correlation_id": &p.CorrelationID, "reply_to": &p.ReplyTo,
		"expiration": &p.Expiration, "message_id": &p.MessageID, "type": &p.Type, "user_id": &p.UserID, "app_id": &p.AppID,
	} {
		*to = textIfAny(f[key])
	}
	for key, to := range map[string]**uint8{"delivery_mode": &p.DeliveryMode, "priority": &p.Priority} {
		if n, ok := float(f[key]); ok {
			octet := uint8(max(0, min(n, math.MaxUint8)))
			*to = &octet
		}
	}
	if n, ok := float(f["timestamp"]); ok {
		at := int64(n)
		p.Timestamp = &at
	}
	return nil
}

func urisOf(value json.RawMessage) (all []*URI, err error) {
	var list []string
	if json.Unmarshal(value, &list) != nil {
		list = []string{text(value)}
	}
	for _, one := range list {
		u, err := ParseURI(one)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	if all == nil {
		err = errors.New("the list of URIs is empty")
	}
	return all, err
}

// arguments returns the arguments of a queue or consumer: whole numbers are integers, others are floats.
func arguments(value json.RawMessage) (map[string]any, error) {
	if value == nil {
		return nil, nil
	}
	var f map[string]json.RawMessage
	if err := json.Unmarshal(value, &f); err != nil {
		return nil, err
	}
	all := map[string]any{}
	for key, raw := range f {
		v, err := argument(raw)
		if err != nil {
			return nil, err
		}
		all[key] = v
	}
	return all, nil
}

func argument(raw json.RawMessage) (any, error) {
	switch kindOf(raw) {
	case '{':
		return arguments(raw)
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		values := make([]any, len(list))
		for i := range list {
			var err error
			if values[i], err = argument(list[i]); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	var v any
	err := json.Unmarshal(raw, &v)
	return v, err
}

// after reads when a shovel is done; false for what says nothing like that.
func after(value json.RawMessage) (Until, bool) {
	never := Until{Count: -1}
	switch text(value) {
	case "never":
		return never, true
	case "queue-length":
		return Until{Length: true, Count: -1}, true
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 {
		return never, false
	}
	return Until{Count: n}, true
}

func isTrue(value json.RawMessage) bool { return string(value) == "true" }

func float(value json.RawMessage) (f float64, ok bool) {
	return f, value != nil && json.Unmarshal(value, &f) == nil
}

func textIfAny(value json.RawMessage) *string {
	if value == nil {
		return nil
	}
	s := text(value)
	return &s
}
