package servicebus

import (
	"bytes"

	"candlemark/protocol/amqp10"
)

// TokenNode is the address of the node that accepts tokens.
const TokenNode = "$cbs"

// Operations of entities' nodes.
const (
	PeekMessage = "com.microsoft:peek-message"
	RenewLock   = "com.microsoft:renew-lock"
	// ReceiveByNumber receives deferred messages, Dispose settles them.
	ReceiveByNumber = "com.microsoft:receive-by-sequence-number"
	Dispose         = "com.microsoft:update-disposition"
	ScheduleMessage = "com.microsoft:schedule-message"
	CancelScheduled = "com.microsoft:cancel-scheduled-message"
	DeleteMessages  = "com.microsoft:batch-delete-messages"
)

// Request is one request to a node. It aliases nothing.
type Request struct {
	Operation string
	ReplyTo   string
	id        amqp10.Value
	// Properties are the application properties, Body the value of the body.
	Properties amqp10.Map
	Body       any
}

// Read reads a request, which is a whole message. The error is an *amqp10.Error if it is not a request.
func Read(encoded []byte) (*Request, error) {
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		return nil, err
	}
	var p amqp10.Properties
	if err := s.Properties(&p); err != nil {
		return nil, err
	}
	r := &Request{ReplyTo: string(p.ReplyTo), id: bytes.Clone(p.MessageID)}
	r.Properties, _ = s.ApplicationProperties.Decode().(amqp10.Map)
	r.Operation = r.Text("operation")
	if s.BodyKind == amqp10.SectionValue {
		for _, v := range s.BodyValues() {
			r.Body = v.Decode()
		}
	}
	return r, nil
}

// Text returns an application property, "" if it is not a text.
func (r *Request) Text(key string) string {
	v, _ := r.Properties.Get(key)
	text, _ := v.(string)
	return text
}

// TokenAnswer appends the answer to a token, a whole message: a code of HTTP and its text.
func (r *Request) TokenAnswer(dst []byte, code int32, text string) []byte {
	return r.append(dst, amqp10.Map{{Key: "status-code", Value: code}, {Key: "status-description", Value: text}}, nil)
}

// Answer appends the answer of an entity's node, a whole message: a code of HTTP, its text, the condition of an error, "" for none, and the body.
func (r *Request) Answer(dst []byte, code int32, text string, condition amqp10.Symbol, body amqp10.Map) []byte {
	properties := amqp10.Map{{Key: "statusCode", Value: code}, {Key: "statusDescription", Value: text}}
	if condition != "" {
		properties = append(properties, amqp10.Entry{Key: "errorCondition", Value: condition})
	}
	return r.append(dst, properties, body)
}

// Field returns a field of the body, nil if there is none.
func (r *Request) Field(key string) any {
	m, _ := r.Body.(amqp10.Map)
	v, _ := m.Get(key)
	return v
}

// LockTokens returns the tokens of the body; ok is false if there are none, or too many.
func (r *Request) LockTokens() (tokens []LockToken, ok bool) {
	values := r.values("lock-tokens")
	for _, v := range values {
		if u, isUUID := v.(amqp10.UUID); isUUID {
			tokens = append(tokens, TokenOf(u))
		}
	}
	return tokens, len(tokens) > 0 && len(tokens) == len(values)
}

// Numbers returns the sequence numbers of the body; ok is false if there are none, or too many.
func (r *Request) Numbers() (numbers []int64, ok bool) {
	values := r.values("sequence-numbers")
	for _, v := range values {
		if n, isLong := v.(int64); isLong && n > 0 {
			numbers = append(numbers, n)
		}
	}
	return numbers, len(numbers) > 0 && len(numbers) == len(values)
}

// MessageCount is the field with a number of messages, in requests and answers.
const MessageCount = "message-count"

// Deletion returns the maximum number of messages for a DeleteMessages, at most maxCount, and the time before which
// they were enqueued, in wall ms, 0 for any; ok is false if the request is invalid.
func (r *Request) Deletion(maxCount int32) (limit int, before int64, ok bool) {
	n, _ := r.Field(MessageCount).(int32)
	switch t := r.Field("enqueued-time-utc").(type) {
	case nil:
	case amqp10.Timestamp:
		before = int64(max(t, 1))
	default:
		return 0, 0, false
	}
	return int(n), before, n > 0 && n <= maxCount
}

// Messages returns the encoded messages of the body; ok is false if there are none, or more than MaxScheduled.
func (r *Request) Messages() (all [][]byte, ok bool) {
	list, _ := r.Field("messages").(amqp10.List)
	if len(list) > MaxScheduled {
		return nil, false
	}
	for _, v := range list {
		entry, _ := v.(amqp10.Map)
		encoded, _ := entry.Get("message")
		if m, isBinary := encoded.([]byte); isBinary {
			all = append(all, m)
		}
	}
	return all, len(all) > 0 && len(all) == len(list)
}

// maxNamed is the maximum number of lock tokens or sequence numbers in a request.
const maxNamed = 1000

// values returns the values of a field that is an array or a list, nil if there are too many.
func (r *Request) values(key string) (all []any) {
	switch v := r.Field(key).(type) {
	case amqp10.Array:
		all = v.Values
	case amqp10.List:
		all = v
	}
	if len(all) > maxNamed {
		return nil
	}
	return all
}

func (r *Request) append(dst []byte, properties amqp10.Map, body any) []byte {
	dst = amqp10.AppendComposite(dst, &amqp10.Properties{CorrelationID: r.id})
	for _, section := range []struct {
		code  uint64
		value any
	}{{amqp10.SectionApplicationProperties, properties}, {amqp10.SectionValue, body}} {
		v, err := amqp10.Append(nil, section.value)
		if err != nil {
			panic(err) // the values are the broker's own
		}
		dst = amqp10.AppendSection(dst, section.code, v)
	}
	return dst
}
