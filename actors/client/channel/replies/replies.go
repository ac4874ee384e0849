package replies

import (
	"candlemark/actors/client/channel/output"
	"candlemark/actors/client/requests"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// Consumer is a channel's consumer of direct replies, if there is one. It is created by New.
type Consumer struct {
	vhost    *topology.VHost
	out      *output.Output
	consumer output.Consumer
	tag      string
	name     *topology.Queue // the registered name; nil if there is no consumer
	arriving *mail.Enqueue   // the replies being handled, not answered yet
}

// New returns the Consumer of a channel that does not consume replies yet.
func New(v *topology.VHost, out *output.Output) Consumer { return Consumer{vhost: v, out: out} }

// Is reports whether it consumes with the given tag.
func (c *Consumer) Is(tag string) bool { return c.name != nil && c.tag == tag }

// Name returns its reply name, "" if it does not consume.
func (c *Consumer) Name() string {
	if c.name == nil {
		return ""
	}
	return c.name.Name
}

// Begin registers the channel as a requester, and returns the consumer's tag. It needs no permission and no queue.
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

// End unregisters it: later replies are unroutable; replies under way are dropped.
func (c *Consumer) End() {
	if c.name != nil {
		c.vhost.RemoveRequester(c.name)
		c.name = nil
	}
}

// Check returns nil if there is a consumer of replies with the given name: a declare of such a name, with any
// arguments, only checks this. The name of direct reply-to itself always exists.
func (c *Consumer) Check(name string) error {
	if name != topology.ReplyName && c.vhost.Requester([]byte(name)) == nil {
		return protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, c.vhost.Name)
	}
	return nil
}

// Address replaces the reply-to in the properties of a request with this channel's reply name.
func (c *Consumer) Address(properties []byte) ([]byte, error) {
	if c.name == nil {
		return nil, protocol.ChannelErrorf(protocol.PreconditionFailed, "fast reply consumer does not exist")
	}
	return protocol.ReplaceReplyTo(properties, c.name.Name), nil
}

// Take handles replies: they are written, dropped because they are not for the current consumer, or refused because the
// client reads too slowly. It returns the answer to the sender.
func (c *Consumer) Take(m *mail.Enqueue) mail.Cause {
	c.arriving = m
	cause := mail.Gone // a reply without a consumer is accepted and dropped
	if c.name != nil && m.Queue == c.name.PID && !c.out.DeliverReplies(&c.consumer, c.tag, m) {
		cause = mail.Failed
	}
	c.arriving = nil
	return cause
}

// InHand returns the replies that were being handled when the channel panicked, nil for none.
func (c *Consumer) InHand() *mail.Enqueue { return c.arriving }
