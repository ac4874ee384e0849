package channel

import (
	"candlemark/actors/channel/assembler"
	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// shareFrom is the content size in bytes from which a message for several
// queues is copied once and shared, not once into every queue (PRO-11).
const shareFrom = 512

// publishIfComplete routes a message whose last frame has come. The checks are
// in the order of TTL-7.
func (s *state) publishIfComplete() error {
	a := &s.assembler
	whole, err := a.Take()
	if !whole {
		return nil
	}
	if err == nil {
		err = s.publish(a)
	}
	a.Reset()
	if err != nil {
		return assembler.Blame(err)
	}
	return nil
}

// checked is a publish that nothing is wrong with, as far as its method and its
// header tell.
type checked struct {
	exchange *topology.Exchange
	message  message.Message
	keys     [][]byte // carbon copies go there
	headers  []byte   // nil without
}

// check makes all checks that need no body.
func (s *state) check(a *assembler.Assembler, c *checked) error {
	x, err := s.exchangeFor(a.Publish.Exchange)
	if err == nil && x.Name == topology.AdminExchange {
		err = s.rights.Command(a.Publish.RoutingKey)
	}
	if err != nil {
		return err
	}
	scan, err := protocol.ScanProperties(a.Properties)
	if err == nil && x.Name == topology.AdminExchange {
		err = s.rights.Answer(scan.ReplyTo)
	}
	if err != nil {
		return err
	}
	c.exchange, c.headers = x, scan.Headers
	m := &c.message
	*m = message.Message{
		Exchange: a.Publish.Exchange, RoutingKey: a.Publish.RoutingKey, Header: a.Properties,
		TTL: message.NoTTL, Priority: scan.Priority, Persistent: scan.Persistent(),
	}
	if string(scan.ReplyTo) == topology.ReplyName {
		m.Header, err = s.replyHere(m.Header)
	}
	if err == nil && scan.HasExpiration {
		m.TTL, err = message.ParseTTL(scan.Expiration)
	}
	if err != nil {
		return err
	}
	if c.keys, err = carbonCopies(m, scan.Headers); err != nil {
		return err
	}
	if s.cache.topics {
		err = s.rights.Topics(x, m.RoutingKey, c.keys)
	}
	if err == nil && scan.HasUserID {
		err = s.rights.UserID(scan.UserID)
	}
	return err
}

func (s *state) publish(a *assembler.Assembler) error {
	var c checked
	if err := s.check(a, &c); err != nil {
		return err
	}
	m := &c.message
	m.Body, m.Owned = a.Content, a.Owned
	targets, err := s.route(c.exchange, m, c.keys, c.headers)
	if err != nil {
		return err
	}
	if s.router.Over() {
		s.routeLong(c.exchange, m, c.keys, a.Publish.Mandatory)
		return nil
	}
	return s.routed(targets, m, c.headers, a.Publish.Mandatory)
}

// routed goes on once the targets of a message, and in the cache the caps
// of their TTLs, are known.
func (s *state) routed(targets []*target, m *message.Message, headers []byte, mandatory bool) error {
	s.steps += len(targets)
	if headers != nil {
		if err := s.checkMoments(targets, headers); err != nil {
			return err
		}
	}
	if s.tracing.on {
		s.tracePublish(m, targets)
	}
	if s.tx != nil {
		return s.publishLater(m, targets, mandatory)
	}
	if s.confirms.On() {
		m.Number = s.confirms.Begin(len(targets))
	}
	s.deliverTo(targets, s.cache.caps, m, mandatory)
	if s.confirms.Crowded() {
		s.output.Wait(s.tell)
	}
	return nil
}

// checkMoments refuses a message that names a time which cannot be made out, if a
// queue on its way would keep it scheduled until then, or have it expire (DLY-10,
// TTL-6).
func (s *state) checkMoments(targets []*target, headers []byte) error {
	for _, t := range targets {
		if m := t.queue.Schedules.Moments(); m != nil {
			if err := m.Check(headers, s.cfg.Clock.Now().Ceil(), s.cfg.Clock.Skew()); err != nil {
				return err
			}
		}
	}
	return nil
}

// deliverTo gives a message to its queues, or back if it has none.
func (s *state) deliverTo(targets []*target, caps []int64, m *message.Message, mandatory bool) {
	s.counts.Publish++
	switch {
	case len(targets) > 0:
		s.distribute(m, targets, caps)
	case mandatory:
		s.counts.Returned++
		s.returnUnroutable(m)
	default:
		s.counts.Dropped++
		s.unroutable(m.Number)
	}
}

// unroutable confirms a message that goes to no queue.
func (s *state) unroutable(number uint64) {
	if s.confirms.On() {
		s.confirms.Complete(number)
	}
}

// distribute adds the message to the batch of each of its queues, with its TTL
// capped by the exchanges on the way there (TTL-9).
func (s *state) distribute(m *message.Message, targets []*target, caps []int64) {
	if len(targets) > 1 && m.Size() >= shareFrom {
		m.Own()
		if m.Share == nil && m.Size() > message.ShareFrom {
			m.Share = message.NewShare(m.Size())
		}
	}
	for i, t := range targets {
		if t.batch == nil {
			t.batch = mail.NewEnqueue(s.self, t.queue.PID)
			if t.queue.Name == topology.AdminExchange {
				t.batch.By = &mail.Publisher{User: s.cfg.User.Name, Tags: s.cfg.User.Tags, Connection: s.cfg.Connection}
			}
			s.touched = append(s.touched, t)
		}
		e := t.batch
		switch {
		case !m.Owned && e.Chunk == nil:
			s.chunk.Retain()
			e.Chunk = s.chunk
		case m.Owned:
			e.Debt.Owe(s.cfg.Gate, m.Size())
		}
		e.Messages = append(e.Messages, *m)
		if caps != nil {
			e.Messages[len(e.Messages)-1].Cap(caps[i])
		}
		if m.Number != 0 {
			p := s.reach(t)
			p.unconfirmed++
			p.published++
		}
	}
}

// reach finds the peer of a target, which is watched from then on.
func (s *state) reach(t *target) *peer {
	if t.peer == nil || t.peer.Gone {
		t.peer = s.peer(t.queue.PID)
		t.peer.requester = t.queue.Requester
	}
	return t.peer
}

// flush sends every queue its batch. A batch never outlives the run of the read
// chunk that its messages are in.
func (s *state) flush() {
	for i, t := range s.touched {
		s.Send(t.queue.PID, t.batch)
		t.batch = nil
		s.touched[i] = nil
	}
	s.touched = s.touched[:0]
	for i, q := range s.passing {
		delete(s.targets, q)
		s.passing[i] = nil
	}
	s.passing = s.passing[:0]
	s.unacked.Flush()
}

// returnUnroutable is basic.return for a mandatory message without a queue. It is
// confirmed behind that. What has to wait is kept on the connection's credit.
func (s *state) returnUnroutable(m *message.Message) {
	if s.output.Len() == 0 && s.giveUp(m) || s.leaving {
		return
	}
	kept := *m
	kept.Own()
	s.output.Charge(kept.Size())
	s.output.Wait(func() bool { return s.giveUp(&kept) })
}

// giveUp writes basic.return if there is room. Confirms of earlier messages come
// before it.
func (s *state) giveUp(m *message.Message) bool {
	s.tell()
	if !s.output.Offer(func(b []byte) []byte {
		b = protocol.AppendMethodFrame(b, s.cfg.ID, &protocol.BasicReturn{
			ReplyCode: protocol.NoRoute, ReplyText: "NO_ROUTE", Exchange: string(m.Exchange), RoutingKey: string(m.RoutingKey),
		})
		b = protocol.AppendHeaderFrame(b, s.cfg.ID, uint64(len(m.Body)), m.Header)
		return protocol.AppendBodyFrames(b, s.cfg.ID, m.Body, s.cfg.FrameMax)
	}) {
		return false
	}
	s.unroutable(m.Number)
	return true
}
