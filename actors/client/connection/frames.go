package connection

import (
	"candlemark/protocol"
)

// frame returns the next whole frame, reading as long as necessary. It is valid until the chunk is released. It is used
// only during the handshake and the end.
func (r *reader) frame(frameMax uint32) (protocol.Frame, error) {
	for {
		f, n, want, err := protocol.ParseFrame(r.Input.Unparsed(), frameMax)
		r.Input.Consume(n)
		if n == 0 && err != nil {
			err = &outOfStep{err}
		}
		if n > 0 || err != nil {
			return f, err
		}
		if err := r.Fill(want); err != nil {
			return protocol.Frame{}, err
		}
	}
}

// outOfStep is an error after which the input cannot be split into frames.
type outOfStep struct{ error }

func (e *outOfStep) Unwrap() error { return e.error }
