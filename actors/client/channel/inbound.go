package channel

import (
	"candlemark/actors/client/input"
	"candlemark/actors/client/routing"
	"candlemark/actors/system/mail"
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

// run handles a read. It returns false if a frame, or the end of a content, has to wait.
func (s *state) run(m *mail.Inbound) bool {
	s.queues.BeginRead()
	if !s.in.Read(m, s.next) {
		s.in.Chunk = nil
		return false
	}
	if s.assembler.Partial() && !s.mayKeep() {
		s.waitForRoom()
		return false
	}
	s.assembler.Own()
	s.queues.Flush()
	s.in.Release(m)
	return true
}

// next handles the first frame of b (input.Input.Read).
func (s *state) next(b []byte) int {
	if s.waits() {
		return 0
	}
	if !s.assembler.Busy() && s.queues.MustRest() {
		return 0
	}
	f, n, _, err := protocol.ParseFrame(b, 0)
	if err != nil || n == 0 {
		s.fail(internalError("the reader let a broken frame pass"), nil)
		return -1
	}
	if s.assembler.Prolongs(f) && !s.mayKeep() || !s.mayDecode(f) {
		s.waitForRoom()
		return 0
	}
	s.frame(f)
	return n
}

// frame handles one frame by its type and, for methods, its id.
func (s *state) frame(f protocol.Frame) {
	if s.in.Phase != input.Open {
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
	if !s.in.Leaving { // otherwise answers are no longer written
		s.queues.Routes.Count(routing.AnswerSteps)
	}
	if err := s.command(m); err != nil {
		s.fail(err, m)
	}
	if !s.in.Waits() {
		s.arguments.Return()
	}
	return nil
}

// frameWhileClosing ignores all frames except frames that end the channel.
func (s *state) frameWhileClosing(f protocol.Frame) {
	if f.Type != protocol.FrameMethod || s.in.Phase != input.Closing {
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
