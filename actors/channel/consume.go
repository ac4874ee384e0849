package channel

import (
	"crypto/rand"
	"encoding/base64"

	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// consumer is one basic.consume of this channel.
type consumer struct {
	peer    *peer
	noAck   bool
	limited bool // subject to the common limit when there is one
	// handed to the outbox and not yet granted back to the queue
	written, bytes int
}

// queueFor resolves a queue's name, "" being the last declared (DEC-9).
func (s *state) queueFor(name string) (*topology.Queue, error) {
	if name == "" {
		if s.lastQueue == "" {
			return nil, protocol.ChannelErrorf(protocol.NotFound, "no previously declared queue")
		}
		name = s.lastQueue
	}
	if q := s.cfg.VHost.Directory().Queue([]byte(name)); q != nil {
		return q, nil
	}
	return nil, protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, s.cfg.VHost.Name)
}

// readable is queueFor with the permission to take messages.
func (s *state) readable(name string) (*topology.Queue, error) {
	if name == "" && s.lastQueue != "" {
		name = s.lastQueue
	}
	if name != "" {
		if err := s.permit(auth.Queue, name, auth.Read); err != nil {
			return nil, err
		}
	}
	return s.queueFor(name)
}

func (s *state) consume(m *protocol.BasicConsume) error {
	tag := m.ConsumerTag
	if _, used := s.consumers[tag]; used {
		return protocol.ConnectionErrorf(protocol.NotAllowed, "attempt to reuse consumer tag '%s'", tag)
	}
	q, err := s.readable(m.Queue)
	if err != nil {
		return err
	}
	if tag == "" {
		tag = generatedTag()
	}
	p := s.peer(q.PID)
	c := &consumer{peer: p, noAck: m.NoAck, limited: !m.NoAck}
	s.send(q.PID, &mail.Consume{
		Request: s.request(m, func(any) {
			s.consumers[tag] = c
			p.consumers++
			if !m.NoWait {
				s.reply(&protocol.BasicConsumeOk{ConsumerTag: tag})
			}
		}),
		Channel: s.self, Tag: tag, NoAck: m.NoAck, Exclusive: m.Exclusive, Prefetch: s.prefetch,
		Arguments: m.Arguments, Limited: s.common.limit > 0, Connection: s.cfg.Connection,
		Queue: q.Name, VHost: s.cfg.VHost.Name,
	})
	return nil
}

func generatedTag() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "amq.ctag-" + base64.RawURLEncoding.EncodeToString(b[:])
}

// cancel ends a consumer. One that is not, or no longer, there is fine
// (LEASE-9).
func (s *state) cancel(m *protocol.BasicCancel) error {
	ok := func() {
		if !m.NoWait {
			s.reply(&protocol.BasicCancelOk{ConsumerTag: m.ConsumerTag})
		}
	}
	c := s.consumers[m.ConsumerTag]
	if c == nil {
		ok()
		return nil
	}
	s.send(c.peer.pid, &mail.CancelConsumer{
		Request: s.request(m, func(any) {
			s.behind(func() {
				s.forget(m.ConsumerTag, c)
				ok()
			})
		}),
		Channel: s.self, Tag: m.ConsumerTag,
	})
	return nil
}

func (s *state) forget(tag string, c *consumer) {
	if s.consumers[tag] == c {
		delete(s.consumers, tag)
		c.peer.consumers--
	}
}

// consumerCancelled: the queue ended a consumer; the client is told behind the
// last delivery, if it wants to be (LEASE-9).
func (s *state) consumerCancelled(m *mail.ConsumerCancelled) {
	if s.phase != open {
		return
	}
	if len(s.held) > 0 {
		s.held = append(s.held, m)
		return
	}
	s.cancelled(m)
}

func (s *state) cancelled(m *mail.ConsumerCancelled) {
	c := s.consumers[m.Tag]
	if c == nil || !c.peer.pid.Equal(m.Queue) {
		return
	}
	s.forget(m.Tag, c)
	if s.cfg.CancelNotify {
		s.reply(&protocol.BasicCancel{ConsumerTag: m.Tag, NoWait: true})
	}
}

func (s *state) get(m *protocol.BasicGet) error {
	q, err := s.readable(m.Queue)
	if err != nil {
		return err
	}
	p := s.peer(q.PID)
	s.send(q.PID, &mail.Get{
		Request: s.request(m, func(reply any) { s.got(p, reply.(*mail.GetReply)) }),
		Channel: s.self, NoAck: m.NoAck, Connection: s.cfg.Connection, Queue: q.Name, VHost: s.cfg.VHost.Name,
	})
	return nil
}

func (s *state) got(p *peer, r *mail.GetReply) {
	if r.Empty {
		s.reply(&protocol.BasicGetEmpty{})
		return
	}
	d := &r.Delivery
	header, err := d.Message.Overlay.Header(d.Message.Header)
	if err != nil {
		header = d.Message.Header
	}
	tag := s.tag(p, d, false)
	b := s.cfg.Outbox.Begin()
	b = protocol.AppendMethodFrame(b, s.cfg.ID, &protocol.BasicGetOk{
		DeliveryTag: tag, Redelivered: d.Redelivered, Exchange: string(d.Message.Exchange),
		RoutingKey: string(d.Message.RoutingKey), MessageCount: uint32(r.MessageCount),
	})
	b = protocol.AppendHeaderFrame(b, s.cfg.ID, uint64(len(d.Message.Body)), header)
	s.cfg.Outbox.End(protocol.AppendBodyFrames(b, s.cfg.ID, d.Message.Body, s.cfg.FrameMax))
}
