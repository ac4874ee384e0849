package channel

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/protocol"
)

// pendingWrite waits for room in the outbox, and for its turn behind what waits
// already: nothing that the client is told overtakes anything else.
type pendingWrite struct {
	consumer *consumer
	deliver  *mail.Deliver // nil: then try is to be called
	try      func() bool   // false: not yet, and OutboxReady will come
	stops    bool          // until it is done no more of the client's input is run
	replies  int           // bytes of replies, which no window bounds
}

// detachChunk gives the read chunk of a delivery that has to wait back: a consumer
// that does not read must not hold up a publisher's connection. What is copied
// is bounded by the consumer's window.
func detachChunk(m *mail.Deliver) {
	if m.Chunk == nil {
		return
	}
	for i := m.Written; i < len(m.Items); i++ {
		m.Items[i].Message.Own()
	}
	m.Chunk.Release()
	m.Chunk = nil
}

// outboxReady goes on with what waits for room. Confirms come first: deliveries
// might leave them none time after time.
func (s *state) outboxReady() {
	s.wantsRoom = false
	s.tell()
	s.resume()
}

// resume goes on with what was held back.
func (s *state) resume() {
	n := 0
	for n < len(s.held) && s.catchUp(&s.held[n]) {
		if bytes := s.held[n].replies; bytes > 0 {
			s.countReplies(-bytes)
		}
		if s.held[n].stops {
			s.stops--
		}
		n++
	}
	if s.held = slices.Delete(s.held, 0, n); len(s.held) == 0 {
		s.owed.Settle()
	}
}

// catchUp does one of them; false: there is no room.
func (s *state) catchUp(l *pendingWrite) bool {
	if l.deliver == nil {
		return l.try()
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
	s.countReplies(-s.replyBytes)
	s.held, s.stops = nil, 0
	s.owed.Settle()
	s.forgo()
}

// wait has try called when it is its turn, until it returns true; none of what
// the client sent behind is run before. So what a client does not read is bounded
// whatever it asks for: it holds one answer for each channel beside what fits into
// the outbox, and its input is bounded by credit. A connection that ends waits
// for no client.
func (s *state) wait(try func() bool) {
	if s.leaving {
		return
	}
	s.stops++
	s.held = append(s.held, pendingWrite{try: try, stops: true})
}

// waits tells whether the client's input has to wait: for the answer of somebody
// else, or for the client to read.
func (s *state) waits() bool { return s.await != nil || s.stops > 0 }

// offer appends whole frames to the outbox if there is room, nothing of them if f
// panics. False: there is none, and OutboxReady will come.
func (s *state) offer(f func(b []byte) []byte) (done bool) {
	out := s.cfg.Outbox
	b := out.Begin()
	defer func() {
		out.End(b)
		if !done {
			s.wantRoom()
		}
	}()
	if out.RoomFor(b) {
		b, done = f(b), true
	}
	return done
}

// wantRoom has OutboxReady sent, once.
func (s *state) wantRoom() {
	if s.wantsRoom {
		return
	}
	s.wantsRoom = true
	self, send := s.self, s.cfg.Post
	s.cfg.Outbox.WhenRoom(func() { send(self, &mail.OutboxReady{}) })
}

// reply tells the client something, behind what is held back.
func (s *state) reply(m protocol.Method) {
	if len(s.held) > 0 || !s.say(m) {
		s.wait(func() bool { return s.say(m) })
	}
}

func (s *state) say(m protocol.Method) bool {
	return s.offer(func(b []byte) []byte { return protocol.AppendMethodFrame(b, s.cfg.ID, m) })
}
