package amqp10

// Type is a type of the specification, named by its constructor: the widest one, where it has several [AMQP 1.0 types 1.6].
type Type uint8

// The types. Each value of the specification is one of them, or a described value.
const (
	TypeDescribed  Type = 0x00
	TypeNull       Type = 0x40
	TypeBool       Type = 0x56
	TypeUByte      Type = 0x50
	TypeUShort     Type = 0x60
	TypeUInt       Type = 0x70
	TypeULong      Type = 0x80
	TypeByte       Type = 0x51
	TypeShort      Type = 0x61
	TypeInt        Type = 0x71
	TypeLong       Type = 0x81
	TypeFloat      Type = 0x72
	TypeDouble     Type = 0x82
	TypeDecimal32  Type = 0x74
	TypeDecimal64  Type = 0x84
	TypeDecimal128 Type = 0x94
	TypeChar       Type = 0x73
	TypeTimestamp  Type = 0x83
	TypeUUID       Type = 0x98
	TypeBinary     Type = 0xb0
	TypeString     Type = 0xb1
	TypeSymbol     Type = 0xb3
	TypeList       Type = 0xd0
	TypeMap        Type = 0xd1
	TypeArray      Type = 0xf0

	TypeNone Type = 0xff // of an absent value, and of a constructor that does not exist
)

// Constructors narrower than the widest of their type.
const (
	codeTrue, codeFalse                   = 0x41, 0x42
	codeUInt0, codeSmallUInt              = 0x43, 0x52
	codeULong0, codeSmallULong            = 0x44, 0x53
	codeSmallInt, codeSmallLong           = 0x54, 0x55
	codeBinary8, codeString8, codeSymbol8 = 0xa0, 0xa1, 0xa3
	codeList0, codeList8                  = 0x45, 0xc0
	codeMap8, codeArray8                  = 0xc1, 0xe0
)

// typeOf is the type of each constructor, TypeNone for unknown ones.
var typeOf = func() (types [256]Type) {
	for i := range types {
		types[i] = TypeNone
	}
	for _, t := range []Type{
		TypeDescribed, TypeNull, TypeBool, TypeUByte, TypeUShort, TypeUInt, TypeULong, TypeByte, TypeShort, TypeInt, TypeLong, TypeFloat, TypeDouble,
		TypeDecimal32, TypeDecimal64, TypeDecimal128, TypeChar, TypeTimestamp, TypeUUID, TypeBinary, TypeString, TypeSymbol, TypeList, TypeMap, TypeArray,
	} {
		types[t] = t
	}
	for code, t := range map[uint8]Type{
		codeTrue: TypeBool, codeFalse: TypeBool, codeUInt0: TypeUInt, codeSmallUInt: TypeUInt, codeULong0: TypeULong, codeSmallULong: TypeULong,
		codeSmallInt: TypeInt, codeSmallLong: TypeLong, codeBinary8: TypeBinary, codeString8: TypeString, codeSymbol8: TypeSymbol,
		codeList0: TypeList, codeList8: TypeList, codeMap8: TypeMap, codeArray8: TypeArray,
	} {
		types[code] = t
	}
	return types
}()

// The Go types of values whose type Go does not have. The others are nil, bool, uint8 … uint64, int8 … int64, float32, float64,
// string and []byte.
type (
	Symbol     string   // ASCII
	Char       rune     // a Unicode character
	Timestamp  int64    // milliseconds since 1970-01-01 UTC
	UUID       [16]byte // in the order of RFC 4122
	Decimal32  [4]byte  // decimals are only handed on
	Decimal64  [8]byte  // as Decimal32
	Decimal128 [16]byte // as Decimal32
	List       []any    // nil when empty
)

// Map is a map in the order in which its entries came. A map with the same key twice is not refused; Get finds the first.
type Map []Entry

// Entry is one entry of a Map.
type Entry struct{ Key, Value any }

// Array is an array: all values have the type Of, or are Described with the same descriptor and a value of the type Of.
type Array struct {
	Of     Type
	Values []any
}

// Described is a value with a descriptor, which is a uint64 or a Symbol if it follows the specification.
type Described struct{ Descriptor, Value any }

// Get returns the value of the first entry whose key is key, as a string or a Symbol.
func (m Map) Get(key string) (any, bool) {
	for _, e := range m {
		switch k := e.Key.(type) {
		case Symbol:
			if string(k) == key {
				return e.Value, true
			}
		case string:
			if k == key {
				return e.Value, true
			}
		}
	}
	return nil, false
}

// Optional is a field that may be absent and has no default.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some returns an Optional that is set.
func Some[T any](v T) Optional[T] { return Optional[T]{v, true} }

// Or returns the value, or otherwise when it is absent.
func (o Optional[T]) Or(otherwise T) T {
	if o.Set {
		return o.Value
	}
	return otherwise
}
