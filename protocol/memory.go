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
