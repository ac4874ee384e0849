package filter

import (
	"cmp"
	"strings"

	"candlemark/protocol"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. Absent is the kind of the zero Value: a missing property, or any unknown value.
const (
	Absent Kind = iota
	Null
	Bool
	Int
	Float
	Text
	Time
	Other // can neither be compared nor computed with, such as binary
)

// Value is a value of a property or of an expression.
type Value struct {
	Kind  Kind
	Int   int64 // for Int; 0 or 1 for Bool; ms since 1970 for Time
	Float float64
	Text  string
}

// Of converts a value of a field table to a Value.
func Of(v any) Value {
	if n, ok := protocol.Int64(v); ok {
		return Value{Kind: Int, Int: n}
	}
	switch v := v.(type) {
	case nil:
		return Value{Kind: Null}
	case bool:
		return truth(v)
	case float32:
		return Value{Kind: Float, Float: float64(v)}
	case float64:
		return Value{Kind: Float, Float: v}
	case string:
		return TextOf(v)
	case protocol.Timestamp:
		return Value{Kind: Time, Int: int64(min(v, 1<<52)) * 1000}
	}
	return Value{Kind: Other}
}

// TextOf returns a text as a Value.
func TextOf(s string) Value { return Value{Kind: Text, Text: s} }

// Any returns the value for a field table; nil if it cannot contain it.
func (v Value) Any() any {
	switch v.Kind {
	case Bool:
		return v.Int != 0
	case Int:
		return v.Int
	case Float:
		return v.Float
	case Text:
		return v.Text
	case Time:
		return protocol.Timestamp(max(v.Int, 0) / 1000)
	case Absent, Null, Other:
	}
	return nil
}

func truth(yes bool) Value {
	if yes {
		return Value{Kind: Bool, Int: 1}
	}
	return Value{Kind: Bool}
}

func (v Value) isTrue() bool  { return v.Kind == Bool && v.Int != 0 }
func (v Value) isFalse() bool { return v.Kind == Bool && v.Int == 0 }
func (v Value) number() bool  { return v.Kind == Int || v.Kind == Float }

func (v Value) float() float64 {
	if v.Kind == Int {
		return float64(v.Int)
	}
	return v.Float
}

// compare orders two values; ok is false for values of different kinds, and for unknown values. Booleans have no order,
// but may be equal.
func compare(a, b Value) (order int, ok bool) {
	switch {
	case a.Kind == Int && b.Kind == Int, a.Kind == Time && b.Kind == Time, a.Kind == Bool && b.Kind == Bool:
		return cmp.Compare(a.Int, b.Int), true
	case a.number() && b.number():
		x, y := a.float(), b.float()
		return cmp.Compare(x, y), x == x && y == y
	case a.Kind == Text && b.Kind == Text:
		return strings.Compare(a.Text, b.Text), true
	}
	return 0, false
}

// Field is a system property of Service Bus, such as sys.Label.
type Field uint8

// The fields.
const (
	ContentType Field = iota
	CorrelationID
	Label // also called Subject
	MessageID
	ReplyTo
	ReplyToSessionID
	SessionID
	To

	Fields // number of fields
)

var fieldNames = [Fields]string{"ContentType", "CorrelationId", "Label", "MessageId", "ReplyTo", "ReplyToSessionId", "SessionId", "To"}

// String returns the name in expressions and in the XML of Service Bus.
func (f Field) String() string { return fieldNames[f] }

// FieldOf finds a field by its name, case-insensitively.
func FieldOf(name string) (Field, bool) {
	for f, known := range fieldNames {
		if strings.EqualFold(name, known) {
			return Field(f), true
		}
	}
	return Label, strings.EqualFold(name, "Subject")
}

// Message is the interface of expressions to a message.
type Message interface {
	// System returns a field, the zero Value if the message does not have it.
	System(f Field) Value
	// User returns the application property with this name in lower case; the zero Value if there is none.
	User(lower string) Value
}
