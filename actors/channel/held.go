package channel

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/protocol"
)

// late is what waits for room in the outbox: a delivery, or something that must
// not overtake one.
type late struct {
	consumer *consumer
	deliver  *mail.Deliver // nil: then is to be called
	then     func()
	replies  int // bytes of replies, which no window bounds
}

// letGo gives the read chunk of a delivery that has to wait back: a consumer
// that does not read must not hold up a publisher's connection. What is copied
// is bounded by the consumer's window.
func letGo(m *mail.Deliver) {
	if m.Chunk == nil {
		return
	}
	for i := m.Written; i < len(m.Items); i++ {
		m.Items[i].Message.Own()
	}
	m.Chunk.Release()
	m.Chunk = nil
}

// resume goes on with what was held back.
func (s *state) resume() {
	n := 0
	for n < len(s.held) && s.catchUp(&s.held[n]) {
		s.replyBytes -= s.held[n].replies
		n++
	}
	s.held = slices.Delete(s.held, 0, n)
}

// catchUp does one of them; false: there is no room.
func (s *state) catchUp(l *late) bool {
	if l.deliver == nil {
		l.then()
		return true
	}
	return s.write(l.consumer, l.deliver)
}

// dropHeld forgets what was held back: queues return it to its position.
func (s *state) dropHeld() {
	for i := range s.held {
		if m := s.held[i].deliver; m != nil {
			m.Release()
		}
	}
	s.held, s.replyBytes = nil, 0
}

// replyBehind is reply for an answer that must not overtake deliveries. The
// command goes on waiting until they are written, for as long as the client
// does not read, so that answers keep their order.
func (s *state) replyBehind(command, ok protocol.Method) {
	if len(s.held) == 0 {
		s.reply(ok)
		return
	}
	s.await = &await{method: command}
	s.held = append(s.held, late{then: func() {
		s.await = nil
		s.reply(ok)
	}})
}
