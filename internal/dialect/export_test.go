package dialect

import "candlemark/protocol/amqp10"

// Read translates a message without regard to those before it.
func Read(encoded []byte, entity bool) (Content, error) {
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		return Content{}, err
	}
	return read(encoded, &s, entity)
}
