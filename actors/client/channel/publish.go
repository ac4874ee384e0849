package channel

import (
	"slices"

	"candlemark/actors/client/channel/assembler"
	"candlemark/actors/client/channel/tx"
	"candlemark/actors/client/routing"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// publishIfComplete routes a message once its last frame has arrived. The checks are in the order of TTL-7.
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

// checked is a publish whose method and header are valid.
type checked struct {
	exchange   *topology.Exchange
	message    message.Message
	keys       [][]byte // routing keys of the carbon copies
	properties protocol.Scan
}

// check makes all checks that need no body; *c must be zero. It fills c in place, because a copy of bytes just
// written waits until they have left the processor's store buffer, and this runs once per message.
func (s *state) check(a *assembler.Assembler, c *checked) error {
	x, topics, err := s.queues.Routes.Exchange(a.Publish.Exchange)
	if err == nil && x.Name == topology.AdminExchange {
		err = s.rights.Command(a.Publish.RoutingKey)
	}
	if err != nil {
		return err
	}
	scan, m := &c.properties, &c.message
	err = scan.Read(a.Properties)
	if err == nil && x.Name == topology.AdminExchange {
		err = s.rights.Answer(scan.ReplyTo)
	}
	if err != nil {
		return err
	}
	c.exchange = x
	m.Exchange, m.RoutingKey, m.Header = a.Publish.Exchange, a.Publish.RoutingKey, a.Properties
	m.TTL, m.Priority = message.NoTTL, scan.Priority
	if string(scan.ReplyTo) == topology.ReplyName {
		m.Header, err = s.replies.Address(m.Header)
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
	if topics {
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
	targets, err := s.queues.Routes.Find(c.exchange, m, c.keys, c.properties.Headers)
	if err != nil {
		return err
	}
	switch {
	case s.queues.Routes.Over():
		s.routeLong(c.exchange, m, c.keys, a.Publish.Mandatory)
		return nil
	case s.queues.MustAsk(targets, m):
		publishLater(s, c.exchange, m, c.keys, a.Publish.Mandatory, routing.Copies(targets, m))
		return nil
	}
	return s.routed(c.exchange, targets, m, c.properties.Headers, a.Publish.Mandatory)
}

// routed continues once the targets of a message, and the limits of their TTLs, are known.
func (s *state) routed(x *topology.Exchange, targets []*routing.Target, m *message.Message, headers []byte, mandatory bool) error {
	s.queues.Routed(x, len(targets))
	if headers != nil {
		if err := s.queues.Routes.CheckMoments(targets, headers); err != nil {
			return err
		}
	}
	s.queues.Routes.AllowAnswer(m, targets)
	s.queues.Trace(m, targets)
	histories := s.queues.Routes.Histories()
	if s.tx != nil {
		return s.tx.Publish(tx.Publish{
			Message: *m, Queues: routing.Queues(targets), Histories: routing.Queues(histories),
			Caps: slices.Clone(s.queues.Routes.Caps()), Mandatory: mandatory,
		})
	}
	if s.confirms.On() {
		m.Number = s.confirms.Begin(len(targets))
	}
	s.deliverTo(targets, histories, s.queues.Routes.Caps(), m, mandatory)
	if s.confirms.Crowded() {
		s.output.Wait(s.sendConfirms)
	}
	return nil
}

// deliverTo sends a message to its queues, or returns it if there are none, and to its histories.
func (s *state) deliverTo(targets, histories []*routing.Target, caps []int64, m *message.Message, mandatory bool) {
	s.queues.Publish(m, targets, histories, caps, s.confirms.On())
	switch {
	case len(targets) > 0:
	case mandatory:
		s.queues.Counts.Returned++
		s.returnUnroutable(m)
	default:
		s.queues.Counts.Dropped++
		s.confirms.Complete(m.Number)
	}
}

// returnUnroutable sends basic.return for a mandatory message without a queue, followed by its confirm. While the
// message waits for room it is charged to the connection's credit.
func (s *state) returnUnroutable(m *message.Message) {
	if s.output.Len() == 0 && s.writeReturn(m) || s.in.Leaving {
		return
	}
	kept := *m
	kept.Own()
	s.output.Charge(kept.Size())
	s.output.Wait(func() bool { return s.writeReturn(&kept) })
}

// writeReturn writes basic.return if there is room. Confirms of earlier messages precede it.
func (s *state) writeReturn(m *message.Message) bool {
	s.sendConfirms()
	if !s.output.Return(m) {
		return false
	}
	s.confirms.Complete(m.Number)
	return true
}
