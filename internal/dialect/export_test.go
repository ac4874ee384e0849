package dialect

// Read translates a message without regard to those before it.
func Read(encoded []byte, entity bool) (Content, error) {
	return new(Reader).Read(encoded, entity)
}
