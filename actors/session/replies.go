package session

import (
	"slices"

	"candlemark/actors/channel/requests"
	"candlemark/actors/mail"
	"candlemark/actors/session/answers"
	"candlemark/internal/auth"
	"candlemark/internal/dialect"
	"candlemark/protocol/amqp10"
)

// attachReplies attaches a link on which the client waits for direct replies, under a name that the broker makes (ADR 89).
func attachReplies(s *state, m *amqp10.Attach) error {
	if err := dialect.CheckVolatile(m); err != nil {
		return err
	}
	q := s.cfg.VHost.AddRequester(requests.Generated(""), s.self)
	if err := s.rights.Check(auth.Queue, q.Name, auth.Read); err != nil {
		s.cfg.VHost.RemoveRequester(q)
		return err
	}
	l := &link{handle: m.Handle, name: m.Name, address: dialect.QueueAddress(q.Name), answers: &answers.Link[*link]{Settled: true, Requester: q}}
	s.links[m.Handle] = l
	answer := dialect.Attached(m, true, s.cfg.MaxMessage)
	answer.Source.Address = amqp10.Some(l.address)
	s.reply(answer)
	return nil
}

// replyLimit is how many bytes of direct replies may wait in a session.
const replyLimit = 16 << 20

// takeReplies takes direct replies, which wait for credit as the answers of nodes do. Those that there is no room for are refused, with all that
// came with them; who has detached the link gets none.
func takeReplies(s *state, m *mail.Enqueue) {
	s.arriving = m
	fate := mail.Gone // taken, and nowhere stored
	for _, l := range s.links {
		if l.answers != nil && l.answers.Requester != nil && l.answers.Requester.PID == m.Queue && !s.leaving {
			if !holdReplies(s, l, m) {
				fate = mail.Failed
			}
			break
		}
	}
	s.arriving = nil
	s.Send(m.Answer(fate))
}

// holdReplies keeps replies until there is credit for them; false: there is no room.
func holdReplies(s *state, l *link, m *mail.Enqueue) bool {
	var list []*nodeAnswer
	kept := 0
	for i := range m.Messages {
		head, body := s.encode(nil, l, &mail.Delivery{Message: m.Messages[i]}, l.answers.Requester.Name)
		text := slices.Concat(head, body)
		ok := s.replyBytes+kept == 0 || s.replyBytes+kept+len(text) <= replyLimit
		if ok {
			ok, _ = s.cfg.Arrivals.Keep(int64(len(text)))
		}
		if !ok {
			s.cfg.Arrivals.Drop(int64(kept))
			return false
		}
		kept += len(text)
		list = append(list, &nodeAnswer{Message: text})
	}
	s.replyBytes += kept
	s.counts.DeliverNoAck += uint64(len(list))
	l.answers.Waiting = append(l.answers.Waiting, list...)
	holdAnswers(s, l)
	return true
}
