package channel

import (
	"candlemark/actors/channel/output"
	"candlemark/actors/channel/requests"
	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// Direct reply-to: a channel that consumes amq.rabbitmq.reply-to takes replies
// as a queue would, and writes them at once. Nothing is kept for it, and nothing
// outlives it.

// replyConsumer is the consumer of replies.
type replyConsumer struct {
	output.Consumer
	tag  string
	name *topology.Queue // under which it is found
}

func (s *state) isRequester(tag string) bool { return s.requester != nil && s.requester.tag == tag }

// consumeReplies makes the channel a requester. There is no permission to ask
// for, and no queue.
func (s *state) consumeReplies(m *protocol.BasicConsume) error {
	switch {
	case !m.NoAck:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "reply consumer cannot acknowledge")
	case s.requester != nil:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "reply consumer already set")
	}
	r := &replyConsumer{tag: m.ConsumerTag, name: s.cfg.VHost.AddRequester(requests.Generated(""), s.self)}
	if r.tag == "" {
		r.tag = requests.Generated("amq.ctag-")
	}
	r.Name = r.name.Name
	s.requester = r
	if !m.NoWait {
		s.output.Reply(&protocol.BasicConsumeOk{ConsumerTag: r.tag})
	}
	return nil
}

// forgetRequester makes later replies unroutable; those on their way are dropped.
func (s *state) forgetRequester() {
	if s.requester != nil {
		s.cfg.VHost.RemoveRequester(s.requester.name)
		s.requester = nil
	}
}

// declareReply answers whether a requester is there: whatever a declare of such
// a name asks for, it is a question. The name itself always exists.
func (s *state) declareReply(m *protocol.QueueDeclare, name string) error {
	if name != topology.ReplyName && s.cfg.VHost.Requester([]byte(name)) == nil {
		return protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, s.cfg.VHost.Name)
	}
	s.client.LastQueue = name
	if !m.NoWait {
		s.output.Reply(&protocol.QueueDeclareOk{Queue: name, ConsumerCount: 1})
	}
	return nil
}

// replyHere puts this channel's own reply name into the properties of a request.
func (s *state) replyHere(raw []byte) ([]byte, error) {
	if s.requester == nil {
		return nil, protocol.ChannelErrorf(protocol.PreconditionFailed, "fast reply consumer does not exist")
	}
	return protocol.ReplaceReplyTo(raw, s.requester.Name), nil
}

// replied takes replies: they are written, dropped because they are for nobody
// or for an earlier consumer, or refused because the client reads too slowly.
func (s *state) replied(m *mail.Enqueue) {
	s.arriving = m
	r := s.requester
	refused := false
	if r != nil && m.Queue == r.name.PID && !s.leaving {
		refused = !s.output.DeliverReplies(&r.Consumer, r.tag, m)
	}
	s.arriving = nil
	answer := mail.Gone // a reply that nobody waits for is taken and dropped
	if refused {
		answer = mail.Failed
	}
	if to, reply := m.Answer(answer); to != nil {
		s.Send(to, reply)
	}
}

// leaveReplies is the end of a channel's part as a requester: what is left in its
// mailbox is answered, and what it was taking when it panicked.
func (s *state) leaveReplies(left []any) {
	s.forgetRequester()
	if s.arriving != nil {
		left = append(left, s.arriving)
		s.arriving = nil
	}
	for _, m := range left {
		if e, ok := m.(*mail.Enqueue); ok {
			if to, reply := e.Answer(mail.Gone); to != nil {
				s.cfg.Post(to, reply)
			}
		}
	}
}
