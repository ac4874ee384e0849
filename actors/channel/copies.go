package channel

import (
	"candlemark/internal/message"
	"candlemark/protocol"
)

// carbonCopies returns the further routing keys that a publisher wrote into the
// headers CC and BCC (DL-16), nil for none. They must be arrays; what is no
// text in them is passed over. BCC is taken out of the message.
func carbonCopies(m *message.Message, headers []byte) ([][]byte, error) {
	if headers == nil {
		return nil, nil
	}
	keys, _, err := routingHeader(nil, headers, "CC")
	if err != nil {
		return nil, err
	}
	keys, blind, err := routingHeader(keys, headers, "BCC")
	if err != nil || !blind {
		return keys, err
	}
	p, err := protocol.DecodeProperties(m.Header)
	if err != nil {
		return nil, err
	}
	p.Headers = p.Headers.Delete("BCC")
	m.Header = p.Append(make([]byte, 0, len(m.Header)))
	return keys, nil
}

// routingHeader adds the keys of one header.
func routingHeader(keys [][]byte, headers []byte, name string) (_ [][]byte, found bool, err error) {
	v, found, err := protocol.LookupField(headers, name)
	if err != nil || !found {
		return keys, false, err
	}
	list, isArray := v.(protocol.Array)
	if !isArray {
		return nil, false, protocol.ChannelErrorf(protocol.PreconditionFailed,
			`invalid message: {unacceptable_type_in_header,"%s",%s}`, name, protocol.TypeName(v))
	}
	for _, e := range list {
		if text, isText := e.(string); isText {
			keys = append(keys, []byte(text))
		}
	}
	return keys, true, nil
}
