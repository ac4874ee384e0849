package amqp10

// Sizes of what Go allocates, in bytes.
const (
	valueSize = 16 // an element of a list
	boxSize   = 24 // a value in an interface, besides its text
)

// WorstMemory is the highest ratio of Memory to the encoded size of a value: a list of nulls.
const WorstMemory = 2 * valueSize

// Memory returns approximately how many bytes of memory the map takes.
func (m Map) Memory() (bytes int64) {
	for _, e := range m {
		bytes += 2*valueSize + memoryOf(e.Key) + memoryOf(e.Value)
	}
	return bytes
}

func memoryOf(v any) int64 {
	switch v := v.(type) {
	case string:
		return boxSize + int64(len(v))
	case Symbol:
		return boxSize + int64(len(v))
	case []byte:
		return boxSize + int64(len(v))
	case Map:
		return boxSize + v.Memory()
	case List:
		return boxSize + ofList(v)
	case Array:
		return boxSize + ofList(v.Values)
	case Described:
		return 2*boxSize + memoryOf(v.Descriptor) + memoryOf(v.Value)
	}
	return valueSize
}

func ofList(list []any) (bytes int64) {
	for _, v := range list {
		bytes += valueSize + memoryOf(v)
	}
	return bytes
}
