package channel

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// method numbers of the hot path, class << 16 | method.
const (
	keyPublish = 60<<16 | 40
	keyAck     = 60<<16 | 80
)

// inbound runs what one read brought, unless a command is waiting.
func (s *state) inbound(m *mail.Inbound) {
	if s.await != nil || len(s.parked) > 0 {
		s.parked = append(s.parked, m)
		return
	}
	s.run(m)
}

// run handles frame after frame until there are no more or one has to wait; the
// rest is parked then, in front.
func (s *state) run(m *mail.Inbound) {
	s.chunk = m.Chunk
	for len(m.Runs) > 0 {
		rest := m.Runs[0]
		for len(rest) > 0 {
			f, n, _, err := protocol.ParseFrame(rest, 0)
			if err != nil || n == 0 {
				s.fail(err, nil)
				rest = nil
				break
			}
			rest = rest[n:]
			s.frame(f)
			if s.await != nil {
				m.Runs[0] = rest
				s.parked = append([]*mail.Inbound{m}, s.parked...)
				s.chunk = nil
				return
			}
		}
		m.Runs = m.Runs[1:]
	}
	s.assembler.own()
	s.flush()
	s.chunk = nil
	m.Chunk.Release()
}

// frame handles one frame by type and, for methods, by what it is.
func (s *state) frame(f protocol.Frame) {
	if s.phase != open {
		s.frameWhileClosing(f)
		return
	}
	var err error
	switch f.Type {
	case protocol.FrameMethod:
		err = s.methodFrame(f)
	case protocol.FrameHeader:
		if err = s.assembler.header(f, s.cfg.MaxMessage); err == nil {
			err = s.publishIfComplete()
		}
	case protocol.FrameBody:
		if err = s.assembler.body(f); err == nil {
			err = s.publishIfComplete()
		}
	default:
		err = f.Unexpected()
	}
	if err != nil {
		s.fail(err, nil)
	}
}

func (s *state) methodFrame(f protocol.Frame) error {
	if s.assembler.busy() {
		return f.Unexpected()
	}
	class, method, _ := protocol.MethodKey(f.Payload)
	switch uint32(class)<<16 | uint32(method) {
	case keyPublish:
		return s.assembler.method(f.Payload)
	case keyAck:
		tag, multiple, err := protocol.DecodeAck(f.Payload)
		if err != nil {
			return err
		}
		return s.ack(tag, multiple, mail.Ack, &protocol.BasicAck{})
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		return err
	}
	if err := s.command(m); err != nil {
		s.fail(err, m)
	}
	return nil
}

// frameWhileClosing ignores everything but the end of the channel.
func (s *state) frameWhileClosing(f protocol.Frame) {
	if f.Type != protocol.FrameMethod || s.phase != closing {
		return
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		return
	}
	switch m.(type) {
	case *protocol.ChannelClose:
		s.reply(&protocol.ChannelCloseOk{})
	case *protocol.ChannelCloseOk:
		s.close(false)
	}
}
