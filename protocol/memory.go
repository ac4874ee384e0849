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

// ArgumentsOf returns the arguments table of a request that has one, nil of any other method.
func ArgumentsOf(m Method) Table {
	switch m := m.(type) {
	case *QueueDeclare:
		return m.Arguments
	case *QueueBind:
		return m.Arguments
	case *QueueUnbind:
		return m.Arguments
	case *ExchangeDeclare:
		return m.Arguments
	case *ExchangeBind:
		return m.Arguments
	case *ExchangeUnbind:
		return m.Arguments
	case *BasicConsume:
		return m.Arguments
	}
	return nil
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
