package channel

import (
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

// carbonCopies returns the additional routing keys in the headers CC and BCC, nil for none, and stores them in the
// message (DL-16). The headers must be arrays; elements of other types than strings are ignored. BCC is removed from
// the message.
func carbonCopies(m *message.Message, headers []byte) ([][]byte, error) {
	if headers == nil {
		return nil, nil
	}
	cc, _, err := routingHeader(headers, "CC")
	if err != nil {
		return nil, err
	}
	bcc, blind, err := routingHeader(headers, "BCC")
	if err != nil {
		return nil, err
	}
	if blind {
		p, err := protocol.DecodeProperties(m.Header)
		if err != nil {
			return nil, err
		}
		p.Headers = p.Headers.Delete("BCC")
		m.Header = p.Append(make([]byte, 0, len(m.Header)))
	}
	if len(cc)+len(bcc) == 0 {
		return nil, nil
	}
	m.Overlay = &message.Overlay{CC: cc, BCC: bcc}
	keys := make([][]byte, 0, len(cc)+len(bcc))
	for _, more := range [2][]string{cc, bcc} {
		for _, key := range more {
			keys = append(keys, []byte(key))
		}
	}
	return keys, nil
}

// routingHeader returns the routing keys in one header.
func routingHeader(headers []byte, name string) (keys []string, found bool, err error) {
	v, found, err := protocol.LookupField(headers, name)
	if err != nil || !found {
		return nil, false, err
	}
	list, isArray := v.(protocol.Array)
	if !isArray {
		return nil, false, protocol.ChannelErrorf(protocol.PreconditionFailed,
			`invalid message: {unacceptable_type_in_header,"%s",%s}`, name, protocol.TypeName(v))
	}
	for _, e := range list {
		if text, isText := e.(string); isText {
			keys = append(keys, text)
		}
	}
	return keys, true, nil
}
