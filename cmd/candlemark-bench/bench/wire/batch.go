package wire

import "candlemark/protocol"

// Publish is a message to be published.
type Publish struct {
	Channel       uint16
	Exchange, Key string
	Mandatory     bool
	Properties    protocol.Properties
	Body          []byte
}

// Append appends its frames, of at most frameMax bytes (0 for no limit), and returns where in dst the first byte of the
// body is.
func (p *Publish) Append(dst []byte, frameMax uint32) (grown []byte, body int) {
	dst = protocol.AppendMethodFrame(dst, p.Channel, &protocol.BasicPublish{Exchange: p.Exchange, RoutingKey: p.Key, Mandatory: p.Mandatory})
	var room [256]byte
	dst = protocol.AppendHeaderFrame(dst, p.Channel, uint64(len(p.Body)), p.Properties.Append(room[:0]))
	body = len(dst) + protocol.FrameOverhead - 1
	return protocol.AppendBodyFrames(dst, p.Channel, p.Body, frameMax), body
}

// Batch is one publish, encoded once and repeated, so that a producer only changes some bytes of each body and writes all at once.
type Batch struct {
	buf        []byte
	step, body int // length of a message, and where in it its body begins
	number     func(message []byte)
}

// NewBatch makes n copies of an encoded publish whose body begins at body. number gives each the numbers that only it has, when it is
// about to be sent; nil if there are none.
func NewBatch(n int, one []byte, body int, number func(message []byte)) *Batch {
	b := &Batch{step: len(one), body: body, number: number, buf: make([]byte, 0, n*len(one))}
	for range n {
		b.buf = append(b.buf, one...)
	}
	return b
}

// Batch encodes n copies of a publish.
func (c *Conn) Batch(n int, p *Publish) *Batch {
	one, body := p.Append(nil, c.FrameMax)
	return NewBatch(n, one, body, nil)
}

// Append appends a publish, encoded.
func (c *Conn) Append(dst []byte, p *Publish) []byte {
	dst, _ = p.Append(dst, c.FrameMax)
	return dst
}

// Body returns the start of the body of message i, to be changed.
func (b *Batch) Body(i, size int) []byte {
	at := i*b.step + b.body
	return b.buf[at : at+size : at+size]
}

// Bytes returns the first n messages.
func (b *Batch) Bytes(n int) []byte {
	if b.number != nil {
		for i := range n {
			b.number(b.buf[i*b.step : (i+1)*b.step])
		}
	}
	return b.buf[:n*b.step]
}
