package replies

import (
	"candlemark/actors/channel/output"
	"candlemark/actors/channel/requests"
	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// Consumer is the consumer of replies of a channel, if it has one. It is made by New.
type Consumer struct {
	vhost    *topology.VHost
	out      *output.Output
	consumer output.Consumer
	tag      string
	name     *topology.Queue // under which it is found; nil: nobody waits for replies here
	arriving *mail.Enqueue   // the replies in hand, not answered yet
}

// New makes that of a channel that waits for no replies.
func New(v *topology.VHost, out *output.Output) Consumer { return Consumer{vhost: v, out: out} }

// Is tells whether it consumes with that tag.
func (c *Consumer) Is(tag string) bool { return c.name != nil && c.tag == tag }

// Name is the name to reply to, "" if it does not consume.
func (c *Consumer) Name() string {
	if c.name == nil {
		return ""
	}
	return c.name.Name
}

// Begin makes the channel a requester, and returns the consumer's tag. There is no
// permission to ask for, and no queue.
func (c *Consumer) Begin(m *protocol.BasicConsume, self mail.Address) (tag string, err error) {
	switch {
	case !m.NoAck:
		return "", protocol.ChannelErrorf(protocol.PreconditionFailed, "reply consumer cannot acknowledge")
	case c.name != nil:
		return "", protocol.ChannelErrorf(protocol.PreconditionFailed, "reply consumer already set")
	}
	c.name = c.vhost.AddRequester(requests.Generated(""), self)
	if c.tag = m.ConsumerTag; c.tag == "" {
		c.tag = requests.Generated("amq.ctag-")
	}
	c.consumer = output.Consumer{Name: c.name.Name}
	return c.tag, nil
}

// End makes later replies unroutable; those on their way are dropped.
func (c *Consumer) End() {
	if c.name != nil {
		c.vhost.RemoveRequester(c.name)
		c.name = nil
	}
}

// Check tells whether somebody waits for replies under that name: whatever a declare
// of such a name asks for, it is a question. The name of direct reply-to itself
// always exists.
func (c *Consumer) Check(name string) error {
	if name != topology.ReplyName && c.vhost.Requester([]byte(name)) == nil {
		return protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, c.vhost.Name)
	}
	return nil
}

// Address puts this channel's own reply name into the properties of a request.
func (c *Consumer) Address(properties []byte) ([]byte, error) {
	if c.name == nil {
		return nil, protocol.ChannelErrorf(protocol.PreconditionFailed, "fast reply consumer does not exist")
	}
	return protocol.ReplaceReplyTo(properties, c.name.Name), nil
}

// Take takes replies: they are written, dropped because they are for nobody or for
// an earlier consumer, or refused because the client reads too slowly. It returns
// what the sender is to be told.
func (c *Consumer) Take(m *mail.Enqueue) mail.Fate {
	c.arriving = m
	fate := mail.Gone // a reply that nobody waits for is taken and dropped
	if c.name != nil && m.Queue == c.name.PID && !c.out.DeliverReplies(&c.consumer, c.tag, m) {
		fate = mail.Failed
	}
	c.arriving = nil
	return fate
}

// InHand returns the replies that it was taking when the channel panicked, nil for none.
func (c *Consumer) InHand() *mail.Enqueue { return c.arriving }
