package protocol

// Sizes of what Go allocates, in bytes.
const (
	fieldSize   = 32 // a Field
	elementSize = 16 // an element of an Array
	boxSize     = 24 // a value in an interface, besides its text
)

// Memory returns approximately how many bytes of memory the table takes.
func (t Table) Memory() (bytes int64) {
	for i := range t {
		bytes += fieldSize + int64(len(t[i].Key)) + memoryOf(t[i].Value)
	}
	return bytes
}

// worstMemory is the highest ratio of Memory to the encoded size of a table: an array of voids.
const worstMemory = elementSize + 8

// ArgumentsMemory returns what Memory returns for the arguments of a method, without decoding them: payload is that of its frame. It
// is 0 for methods without arguments, and if they take at most free bytes.
func ArgumentsMemory(payload []byte, free int) int64 {
	if len(payload)*worstMemory <= free {
		return 0
	}
	c := cursor{b: payload}
	names, octets := 0, uint32(1)
	switch Key(c.u32()) {
	case (*QueueDeclare)(nil).Key():
		names = 1
	case (*ExchangeDeclare)(nil).Key(), (*BasicConsume)(nil).Key():
		names = 2
	case (*QueueBind)(nil).Key(), (*ExchangeBind)(nil).Key(), (*ExchangeUnbind)(nil).Key():
		names = 3
	case (*QueueUnbind)(nil).Key():
		names, octets = 3, 0
	default:
		return 0
	}
	c.u16()
	for range names {
		c.short()
	}
	c.take(octets)
	return memoryIn(c.long(), 1, true)
}

// memoryIn returns the memory of the fields of an encoded table, or of the values of an array, at a nesting level.
func memoryIn(encoded []byte, level int, keys bool) (bytes int64) {
	c := cursor{b: encoded, bad: level > maxNesting}
	for len(c.b) > 0 && !c.bad {
		bytes += elementSize
		if keys {
			bytes += fieldSize - elementSize + int64(len(c.short()))
		}
		v := c.take(valueSize(c.b))
		if c.bad {
			break
		}
		switch v[0] {
		case 'S', 'x':
			bytes += boxSize + int64(len(v)-5)
		case 'F', 'A':
			bytes += boxSize + memoryIn(v[5:], level+1, v[0] == 'F')
		default:
			bytes += 8
		}
	}
	return bytes
}

func memoryOf(v any) (bytes int64) {
	switch v := v.(type) {
	case string:
		return boxSize + int64(len(v))
	case []byte:
		return boxSize + int64(len(v))
	case Table:
		return boxSize + v.Memory()
	case Array:
		bytes = boxSize
		for i := range v {
			bytes += elementSize + memoryOf(v[i])
		}
	}
	return max(bytes, 8)
}
