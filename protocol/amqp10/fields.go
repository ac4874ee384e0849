package amqp10

import "math"

// Composite is a described list with named fields, by the names of the specification: a performative, a SASL frame, an error, a terminus,
// a state, a section. All of them are in this package.
type Composite interface {
	fields(f *fields) // reads or writes all fields, in order
}

// fields reads or writes the fields of composites: each of these has one list of its fields, for both directions. A
// field that is null, or left out at the end, gets its default; when writing, a field that has its default is null, and
// nulls at the end are left out unless the composite is [complete].
type fields struct {
	cursor cursor
	left   int // reading: remaining fields

	writing bool
	out     []byte
	count   int // writing: fields that out holds
	nulls   int // writing: number of pending null fields
}

// required is a field that must be there.
func required[T any](f *fields, p *T) {
	switch {
	case f.writing:
		f.put(p)
	case f.null():
		f.cursor.fail(mismatch)
	default:
		f.get(p)
	}
}

// defaulted is a field with a default.
func defaulted[T comparable](f *fields, p *T, otherwise T) {
	switch {
	case f.writing && *p == otherwise:
		f.nulls++
	case f.writing:
		f.put(p)
	case f.null():
		*p = otherwise
	default:
		f.get(p)
	}
}

// optional is a field that may be absent.
func optional[T any](f *fields, p *Optional[T]) {
	switch {
	case f.writing && !p.Set:
		f.nulls++
	case f.writing:
		f.put(&p.Value)
	case f.null():
		*p = Optional[T]{}
	default:
		p.Set = true
		f.get(&p.Value)
	}
}

// nullable is a field whose absence is a nil slice.
func nullable[S ~[]E, E any](f *fields, p *S) {
	switch {
	case f.writing && *p == nil:
		f.nulls++
	case f.writing:
		f.put(p)
	case f.null():
		*p = nil
	default:
		f.get(p)
	}
}

// nested is a field that is a composite, nil when absent.
func nested[T any, P interface {
	*T
	Composite
}](f *fields, p **T) {
	switch {
	case f.writing && *p == nil:
		f.nulls++
	case f.writing:
		f.flush()
		f.writeComposite(P(*p))
	case f.null():
		*p = nil
	default:
		*p = new(T)
		f.readComposite(P(*p))
	}
}

// null reads over a field that is null or not there.
func (f *fields) null() bool {
	if f.left == 0 {
		return true
	}
	f.left--
	if len(f.cursor.b) == 0 || f.cursor.b[0] != uint8(TypeNull) {
		return false
	}
	f.cursor.b = f.cursor.b[1:]
	return true
}

// get reads a field that is present into p, by the type that p points to: []byte, Text, SymbolText and Value alias the
// input, all others are copied.
func (f *fields) get(p any) {
	switch p := p.(type) {
	case *bool:
		*p = f.cursor.unsigned(TypeBool) != 0
	case *uint8:
		*p = uint8(f.cursor.unsigned(TypeUByte))
	case *uint16:
		*p = uint16(f.cursor.unsigned(TypeUShort))
	case *uint32:
		*p = uint32(f.cursor.unsigned(TypeUInt))
	case *uint64:
		*p = f.cursor.unsigned(TypeULong)
	case *Timestamp:
		*p = Timestamp(f.cursor.unsigned(TypeTimestamp))
	case *[]byte:
		*p = f.cursor.bytes(TypeBinary)
	case *Text:
		*p = f.cursor.bytes(TypeString)
	case *SymbolText:
		*p = f.cursor.bytes(TypeSymbol)
	case *string:
		*p = string(f.cursor.bytes(TypeString))
	case *Symbol:
		*p = Symbol(f.cursor.bytes(TypeSymbol))
	case *[]Symbol:
		*p = f.symbols()
	case *Map:
		code := f.cursor.constructor(TypeMap)
		if f.cursor.fault == sound {
			*p = f.cursor.mapping(code, 1)
		}
	case *Value:
		*p = f.cursor.value()
	}
}

// flush writes the nulls in front of a field, and counts it.
func (f *fields) flush() {
	f.writeNulls()
	f.count++
}

func (f *fields) writeNulls() {
	for ; f.nulls > 0; f.nulls-- {
		f.out = append(f.out, uint8(TypeNull))
		f.count++
	}
}

// put writes a field by the type that p points to.
func (f *fields) put(p any) {
	f.flush()
	switch p := p.(type) {
	case *bool:
		f.out = AppendBool(f.out, *p)
	case *uint8:
		f.out = append(f.out, uint8(TypeUByte), *p)
	case *uint16:
		f.out = AppendUShort(f.out, *p)
	case *uint32:
		f.out = AppendUInt(f.out, *p)
	case *uint64:
		f.out = AppendULong(f.out, *p)
	case *Timestamp:
		f.out = AppendTimestamp(f.out, *p)
	case *[]byte:
		f.out = AppendBinary(f.out, *p)
	case *Text:
		f.out = AppendString(f.out, []byte(*p))
	case *SymbolText:
		f.out = AppendSymbol(f.out, []byte(*p))
	case *string:
		f.out = AppendString(f.out, *p)
	case *Symbol:
		f.out = AppendSymbol(f.out, string(*p))
	case *[]Symbol:
		f.putSymbols(*p)
	case *Map:
		f.out = mustAppend(f.out, *p)
	case *Value:
		f.out = append(f.out, *p...)
	}
}

// symbols reads a field with several symbols: an array of them, or one alone [AMQP 1.0 types 1.4].
func (f *fields) symbols() []Symbol {
	v := f.cursor.decode(1)
	if alone, ok := v.(Symbol); ok {
		return []Symbol{alone}
	}
	array, ok := v.(Array)
	all := make([]Symbol, len(array.Values))
	for i := range all {
		s, isSymbol := array.Values[i].(Symbol)
		all[i], ok = s, ok && isSymbol
	}
	if !ok {
		f.cursor.fail(mismatch)
	}
	return all
}

func (f *fields) putSymbols(all []Symbol) {
	values := make([]any, len(all))
	for i, s := range all {
		values[i] = s
	}
	f.out = mustAppend(f.out, Array{Of: TypeSymbol, Values: values})
}

// readComposite reads the descriptor and fields of p.
func (f *fields) readComposite(p Composite) {
	code := f.cursor.descriptor()
	if f.readFields(p) != code {
		f.cursor.fail(mismatch)
	}
}

// readFields reads a composite after its descriptor, and returns the required descriptor. Fields outside the
// specification are refused.
func (f *fields) readFields(p Composite) (code uint64) {
	constructor := f.cursor.constructor(TypeList)
	if f.cursor.fault != sound {
		return 0
	}
	outer := f.left
	count, rest := f.cursor.enter(constructor)
	f.left = int(count)
	code = f.walk(p)
	if f.left > 0 {
		f.cursor.fail(mismatch)
	}
	f.cursor.leave(rest)
	f.left = outer
	return code
}

// writeComposite appends p.
func (f *fields) writeComposite(p Composite) {
	writing, count, nulls := f.writing, f.count, f.nulls
	f.writing, f.count, f.nulls = true, 0, 0
	start := len(f.out)
	f.out = append(f.out, uint8(TypeDescribed), codeSmallULong, 0, codeList8, 0, 0)
	code := f.walk(p)
	f.out[start+codeAt] = uint8(code)
	if complete(code) {
		f.writeNulls()
	}
	if f.count == 0 {
		f.out = append(f.out[:start+codeAt+1], codeList0)
	} else {
		f.out = CloseCompound(f.out, start+codeAt+1, f.count)
	}
	f.writing, f.count, f.nulls = writing, count, nulls
}

// complete reports whether the nulls at the end of a composite are written: performatives and errors have them, because
// Azure's client for Python (azure-servicebus 7.9 and later) reads their fields by index.
func complete(code uint64) bool {
	return code >= CodeOpen && code <= CodeClose || code == codeError
}

// codeAt is the offset of the descriptor in a written composite.
const codeAt = 2

// descriptor reads the descriptor of a described value: its number, also for a known name; math.MaxUint64 for other
// names.
func (f *cursor) descriptor() uint64 {
	f.constructor(TypeDescribed)
	if f.fault != sound || len(f.b) == 0 || typeOf[f.b[0]] != TypeSymbol {
		return f.unsigned(TypeULong)
	}
	name := f.bytes(TypeSymbol)
	for _, d := range descriptors {
		if d.name == string(name) {
			return d.code
		}
	}
	return math.MaxUint64
}
