package amqp10

import "math"

// decode reads a value at a nesting level.
func (c *cursor) decode(level int) any { return c.decodeRest(c.constructor(TypeNone), level) }

// decodeRest is decode after the constructor.
func (c *cursor) decodeRest(code uint8, level int) any {
	if level > maxNesting {
		c.fail(malformed)
	}
	if c.fault != sound {
		return nil
	}
	switch typeOf[code] {
	case TypeDescribed:
		descriptor := c.decode(level + 1)
		return Described{descriptor, c.decode(level + 1)}
	case TypeList:
		return c.list(code, level)
	case TypeMap:
		return c.mapping(code, level)
	case TypeArray:
		return c.array(code, level)
	default:
		p := c.scalar(code)
		if c.fault != sound {
			return nil
		}
		return scalarOf(code, p)
	}
}

// scalarOf returns the Go value of a scalar's checked payload, copied; nil for null.
func scalarOf(code uint8, p []byte) any {
	switch typeOf[code] {
	case TypeBool:
		return number(code, p) != 0
	case TypeUByte:
		return uint8(number(code, p))
	case TypeUShort:
		return uint16(number(code, p))
	case TypeUInt:
		return uint32(number(code, p))
	case TypeULong:
		return number(code, p)
	case TypeByte:
		return int8(signed(p))
	case TypeShort:
		return int16(signed(p))
	case TypeInt:
		return int32(signed(p))
	case TypeLong:
		return signed(p)
	case TypeTimestamp:
		return Timestamp(signed(p))
	case TypeFloat:
		return math.Float32frombits(uint32(number(code, p)))
	case TypeDouble:
		return math.Float64frombits(number(code, p))
	case TypeChar:
		return Char(number(code, p))
	case TypeBinary:
		return append([]byte{}, p...)
	case TypeString:
		return string(p)
	case TypeSymbol:
		return Symbol(p)
	case TypeUUID:
		return UUID(p)
	case TypeDecimal32:
		return Decimal32(p)
	case TypeDecimal64:
		return Decimal64(p)
	case TypeDecimal128:
		return Decimal128(p)
	default:
		return nil
	}
}

// list reads a list after its constructor; an empty one is a nil List.
func (c *cursor) list(code uint8, level int) List {
	count, rest := c.enter(code)
	var l List
	if count > 0 {
		l = make(List, 0, count) // each of them takes a byte
	}
	for ; count > 0 && c.fault == sound; count-- {
		l = append(l, c.decode(level+1))
	}
	c.leave(rest)
	return l
}

// mapping reads a map after its constructor; an empty one is an empty Map, since a nil one is null where a map is
// optional.
func (c *cursor) mapping(code uint8, level int) Map {
	count, rest := c.enter(code)
	m := make(Map, 0, count/2)
	for ; count > 0 && c.fault == sound; count -= 2 {
		key := c.decode(level + 1)
		m = append(m, Entry{key, c.decode(level + 1)})
	}
	c.leave(rest)
	return m
}

// array reads an array after its constructor. Its descriptors apply to all elements.
func (c *cursor) array(code uint8, level int) Array {
	count, rest := c.enter(code)
	var descriptors []any
	element := c.constructor(TypeNone)
	for ; element == uint8(TypeDescribed) && c.fault == sound; element = c.constructor(TypeNone) {
		level++
		descriptors = append(descriptors, c.decode(level+1))
	}
	a := Array{Of: typeOf[element]}
	if c.fault != sound {
		return Array{}
	}
	each := c.elements(element, count)
	if count > 0 && c.fault == sound {
		a.Values = make([]any, 0, count)
	}
	for ; count > 0 && c.fault == sound; count-- {
		var v any
		if each {
			v = c.decodeRest(element, level+1)
		} else {
			v = emptyOf(element)
		}
		for i := len(descriptors) - 1; i >= 0; i-- {
			v = Described{descriptors[i], v}
		}
		a.Values = append(a.Values, v)
	}
	c.leave(rest)
	return a
}

// emptyOf returns the value of a constructor without payload.
func emptyOf(code uint8) any {
	if code == codeList0 {
		return List(nil)
	}
	return scalarOf(code, nil)
}
