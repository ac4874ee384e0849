package session

import (
	"errors"

	"candlemark/actors/mail"
	"candlemark/actors/session/entities"
	"candlemark/internal/dialect"
	"candlemark/internal/dialect/servicebus"
	"candlemark/internal/topology"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// largestToken is the largest request to $cbs in bytes.
const largestToken = 16 << 10

// toEntity has a link send to a queue or, if there is none of that name, to the exchange that is a topic.
func toEntity(s *state, p *publisher, address string) error {
	name, err := servicebus.ParseTarget(address)
	if err != nil {
		return err
	}
	exchange, key := name, ""
	if s.cfg.VHost.Directory().Queue([]byte(name)) != nil {
		exchange, key = "", name
	}
	if _, err := s.rights.Writable([]byte(exchange)); err != nil {
		return err
	}
	p.entity, p.exchange, p.key = true, []byte(exchange), []byte(key)
	return nil
}

// attachFailed refuses a link: its session ends, as in RabbitMQ, or, in the dialect of Azure Service Bus, it is attached to nothing and detached.
func attachFailed(s *state, m *amqp10.Attach, err error) {
	var whole *protocol.ConnectionError
	if !entities.Of(m) || errors.As(err, &whole) || s.links[m.Handle] != nil {
		s.fail(err)
		return
	}
	s.links[m.Handle] = &link{handle: m.Handle, name: m.Name, closing: true}
	s.reply(entities.Nothing(m))
	s.reply(&amqp10.Detach{Handle: m.Handle, Closed: true, Error: dialect.ErrorOf(err)})
}

// entityNode is the node of an entity.
func entityNode(s *state, queue string) *entities.Node {
	return &entities.Node{
		Queue: queue, Rights: &s.rights, Send: s.Send, Ask: s.request, Self: s.self, Connection: s.cfg.Connection, Held: &s.locked,
		Know:   func(queue mail.Address) { s.peers.Of(queue) },
		Counts: &s.counts, Trace: func(queue string, d *mail.Delivery) { traceDelivery(s, queue, d) },
		Cancelled: s.teller.Cancelled,
		Publish:   func(q *topology.Queue, all [][]byte, done func([]uint64, error)) { publishNumbered(s, q, all, done) },
	}
}

// takeToken runs a request to $cbs. A token is checked, which may take its time; what the client may do, it may as who has logged in.
func takeToken(s *state, request []byte, done func(replyTo string, answer []byte)) error {
	r, err := servicebus.Read(request)
	if err != nil {
		return err
	}
	text, isText := r.Body.(string)
	if r.Operation != "put-token" || !isText || s.cfg.Token == nil {
		done(r.ReplyTo, r.TokenAnswer(nil, 400, "a put-token with a token is wanted"))
		return nil
	}
	id := s.request(func(_ any, err error) {
		if err != nil {
			done(r.ReplyTo, r.TokenAnswer(nil, 401, "the token is not good"))
			return
		}
		if queue, topic := servicebus.ParseAudience(r.Text("name")); topic != "" {
			if d := s.cfg.VHost.Directory(); d.Queue([]byte(queue)) == nil && d.Exchange([]byte(topic)) == nil { // clients take no other answer for it
				done(r.ReplyTo, r.TokenAnswer(nil, 404, "the entity '"+topic+"' is not there"))
				return
			}
		}
		done(r.ReplyTo, r.TokenAnswer(nil, 202, "Accepted"))
	}).ID
	s.await.patient = true
	self, check, post := s.self, s.cfg.Token, s.cfg.Post
	s.jobs = append(s.jobs, func() { post(self, &result{id: id, err: check(text)}) })
	return nil
}
