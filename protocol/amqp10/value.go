package amqp10

import "iter"

// Value is one checked encoded value: reading it can only fail for a wrong type. It aliases the encoded bytes. nil is
// an absent value.
type Value []byte

// Type returns the type of the value, TypeNone if it is absent.
func (v Value) Type() Type {
	if len(v) == 0 {
		return TypeNone
	}
	return typeOf[v[0]]
}

// Decode copies the value into the Go types listed in types.go; nil if it is absent. It is for rarely read values. The memory it takes is
// proportional to the length of the value.
func (v Value) Decode() any {
	c := cursor{b: v}
	return c.decode(1)
}

// payload returns the bytes after constructor and length word.
func (v Value) payload() []byte {
	c := cursor{b: v[1:]}
	return c.payload(v[0])
}

// Bool returns a boolean.
func (v Value) Bool() (b, ok bool) {
	if v.Type() != TypeBool {
		return false, false
	}
	return number(v[0], v.payload()) != 0, true
}

// Uint64 returns a value of one of the unsigned types.
func (v Value) Uint64() (n uint64, ok bool) {
	switch v.Type() {
	case TypeUByte, TypeUShort, TypeUInt, TypeULong:
		return number(v[0], v.payload()), true
	default:
		return 0, false
	}
}

// Int64 returns a value of one of the signed types; a timestamp is none of them.
func (v Value) Int64() (n int64, ok bool) {
	switch v.Type() {
	case TypeByte, TypeShort, TypeInt, TypeLong:
		return signed(v.payload()), true
	default:
		return 0, false
	}
}

// Timestamp returns a timestamp.
func (v Value) Timestamp() (t Timestamp, ok bool) {
	if v.Type() != TypeTimestamp {
		return 0, false
	}
	return Timestamp(signed(v.payload())), true
}

// UUID returns a uuid.
func (v Value) UUID() (u UUID, ok bool) {
	if v.Type() != TypeUUID {
		return UUID{}, false
	}
	return UUID(v.payload()), true
}

// Text returns the characters of a string or symbol, which alias the value.
func (v Value) Text() (text []byte, ok bool) {
	if t := v.Type(); t != TypeString && t != TypeSymbol {
		return nil, false
	}
	return v.payload(), true
}

// Binary returns the bytes of a binary, which alias the value.
func (v Value) Binary() (b []byte, ok bool) {
	if v.Type() != TypeBinary {
		return nil, false
	}
	return v.payload(), true
}

// Described returns the two parts of a described value; both are absent for another value.
func (v Value) Described() (descriptor, value Value) {
	if len(v) == 0 || v.Type() != TypeDescribed {
		return nil, nil
	}
	c := cursor{b: v[1:]}
	return c.next(), c.next()
}

// Entries yields the keys of a map with their values; nothing for other types.
func (v Value) Entries() iter.Seq2[Value, Value] {
	return func(yield func(key, value Value) bool) {
		if v.Type() != TypeMap {
			return
		}
		c := cursor{b: v[1:]}
		for count, _ := c.enter(v[0]); count > 0 && yield(c.next(), c.next()); count -= 2 {
		}
	}
}

// Lookup returns the value of the first entry of a map whose key is key, as a string or symbol; absent if there is none.
func (v Value) Lookup(key string) Value {
	for k, value := range v.Entries() {
		if text, ok := k.Text(); ok && string(text) == key {
			return value
		}
	}
	return nil
}

// next takes a value that was checked before.
func (c *cursor) next() Value {
	n := sizeOf(c.b)
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

// sizeOf returns how many bytes the checked value at the start of b takes.
func sizeOf(b []byte) int {
	if b[0] == uint8(TypeDescribed) {
		n := 1 + sizeOf(b[1:])
		return n + sizeOf(b[n:])
	}
	c := cursor{b: b[1:]}
	c.payload(b[0])
	return len(b) - len(c.b)
}
