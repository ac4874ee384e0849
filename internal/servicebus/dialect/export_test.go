package dialect

// Read translates a message without regard to earlier ones.
func Read(encoded []byte, entity bool) (Content, error) {
	return new(Reader).Read(encoded, entity)
}
