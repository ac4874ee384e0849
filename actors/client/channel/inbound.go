package channel

import (
	"candlemark/actors/client/routing"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// Method ids of the hot path and of the end of a channel, class << 16 | method.
const (
	keyPublish = 60<<16 | 40
	keyAck     = 60<<16 | 80
	keyClose   = 20<<16 | 40
	keyCloseOk = 20<<16 | 41
)

// ackMethod is the method in errors of basic.ack, which is never decoded into a struct.
var ackMethod protocol.Method = &protocol.BasicAck{}

// run handles the frames of m in order. If one has to wait, it returns false with the rest left in m; otherwise m is
// released.
func (s *state) run(m *mail.Inbound) bool {
	s.chunk = m.Chunk
	s.routes.BeginRead(s.used.Floor())
	s.tracer.On = s.cfg.VHost.Tracing()
	for len(m.Runs) > 0 {
		if len(m.Runs[0]) == 0 {
			m.Runs = m.Runs[1:]
			continue
		}
		if s.waits() {
			s.chunk = nil
			return false
		}
		if s.routes.Steps() >= topology.TurnSteps && !s.assembler.Busy() {
			s.rest()
			return false
		}
		f, n, _, err := protocol.ParseFrame(m.Runs[0], 0)
		if err != nil || n == 0 {
			s.fail(internalError("the reader let a broken frame pass"), nil)
			m.Runs = nil
			break
		}
		if s.assembler.Prolongs(f) && !s.mayKeep() || !s.mayDecode(f) {
			return s.waitForRoom()
		}
		m.Runs[0] = m.Runs[0][n:]
		s.frame(f)
	}
	if s.assembler.Partial() && !s.mayKeep() {
		return s.waitForRoom()
	}
	s.assembler.Own()
	s.flush()
	s.chunk = nil
	m.Chunk.Release()
	m.Chunk = nil
	return true
}

// frame handles one frame by its type and, for methods, its id.
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
		if err = s.assembler.Header(f, s.cfg.MaxMessage); err == nil {
			err = s.publishIfComplete()
		}
	case protocol.FrameBody:
		if err = s.assembler.Body(f); err == nil {
			err = s.publishIfComplete()
		}
	default:
		err = s.assembler.Unexpected()
	}
	if err != nil {
		s.fail(err, nil)
	}
}

func (s *state) methodFrame(f protocol.Frame) error {
	if s.assembler.Busy() {
		return s.assembler.Unexpected()
	}
	class, method, _ := protocol.MethodKey(f.Payload)
	switch uint32(class)<<16 | uint32(method) {
	case keyPublish:
		return s.assembler.Method(f.Payload)
	case keyAck:
		tag, multiple, err := protocol.DecodeAck(f.Payload)
		if err != nil {
			return err
		}
		return s.ack(tag, multiple, mail.Ack, ackMethod)
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		return err
	}
	if !s.leaving { // otherwise answers are no longer written
		s.routes.Count(routing.AnswerSteps)
	}
	if err := s.command(m); err != nil {
		s.fail(err, m)
	}
	if s.await == nil {
		s.arguments.Return()
	}
	return nil
}

// frameWhileClosing ignores all frames except frames that end the channel.
func (s *state) frameWhileClosing(f protocol.Frame) {
	if f.Type != protocol.FrameMethod || s.phase != closing {
		return
	}
	class, method, _ := protocol.MethodKey(f.Payload)
	switch uint32(class)<<16 | uint32(method) {
	case keyClose:
		s.sendClose()
		s.output.Reply(&protocol.ChannelCloseOk{})
	case keyCloseOk:
		s.close(false)
	}
}
