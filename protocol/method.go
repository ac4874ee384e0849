package protocol

import "encoding/binary"

// Method is one AMQP method with its arguments. Every method is a struct named ClassMethod and used as a pointer.
type Method interface {
	Key() Key
	Append(dst []byte) []byte // appends the arguments only; for a whole frame see AppendMethodFrame
}

// decoder is a method that can read its arguments.
type decoder interface {
	Method
	decode(c *cursor)
}

// Class ids [AMQP 1.3] and RabbitMQ's confirm class.
const (
	classConnection = 10
	classChannel    = 20
	classAccess     = 30
	classExchange   = 40
	classQueue      = 50
	classBasic      = 60
	classConfirm    = 85
	classTx         = 90
)

// noArguments is embedded by the methods that carry none.
type noArguments struct{}

// Append implements Method.
func (noArguments) Append(dst []byte) []byte { return dst }

func (noArguments) decode(*cursor) {}

// MethodKey returns class and method id of a method frame's payload without decoding it; ok is false when it is too short.
func MethodKey(payload []byte) (class, method uint16, ok bool) {
	if len(payload) < 4 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(payload), binary.BigEndian.Uint16(payload[2:]), true
}

// DecodeMethod decodes the payload of a method frame; strings and tables are copied. Errors are *ConnectionError:
//
//   - too short or too long arguments, or a broken table in them: 501 "cannot decode <<…>>", with the method's ids;
//   - a short string that is not UTF-8, except in methods that carry content: 501 "Malformed UTF-8 in shortstr"
//     (DEC-8), without the method's ids, as in RabbitMQ;
//   - an unknown class or method: 540, with its ids. RabbitMQ drops the connection silently.
func DecodeMethod(payload []byte) (Method, error) {
	class, method, ok := MethodKey(payload)
	if !ok {
		return nil, cannotDecode(payload, 0, 0)
	}
	kind, known := kinds[Key(class)<<16|Key(method)]
	if !known {
		err := ConnectionErrorf(NotImplemented, "unknown method {%d,%d}", class, method)
		err.Class, err.Method = class, method
		return nil, err
	}
	m, c := kind.empty(), cursor{b: payload[4:]}
	m.decode(&c)
	if c.bad || len(c.b) > 0 {
		return nil, cannotDecode(payload[4:], class, method)
	}
	if c.badUTF8 {
		return nil, ConnectionErrorf(FrameErr, "Malformed UTF-8 in shortstr")
	}
	return m, nil
}

// cannotDecode is RabbitMQ's answer to arguments that do not fit their method.
func cannotDecode(arguments []byte, class, method uint16) *ConnectionError {
	err := ConnectionErrorf(FrameErr, "cannot decode %s", term(arguments, false))
	err.Class, err.Method = class, method
	return err
}
