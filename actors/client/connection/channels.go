package connection

import (
	"fmt"

	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// channel is one opened channel. The actor keeps it until the channel has closed, the reader until the client opens its
// number again.
type channel struct {
	lifecycle.Child

	// For the reader only:
	late int // how often the client has sent close or close-ok again
}

// openChannel asks the actor for a channel. The reply, nil if the connection is closing, must not block.
type openChannel struct {
	id    uint16
	reply chan<- *channel
}

// openChannel spawns the channel and answers the client, or waits until the number is free: the client may reuse it as
// soon as it has seen or sent close-ok, even though the channel may not have ended yet.
func (c *connection) openChannel(ctx actor.Context, m *openChannel) {
	if c.State != lifecycle.Running {
		m.reply <- nil
		return
	}
	if c.Children[m.id] != nil {
		if c.opens == nil {
			c.opens = make(map[uint16]*openChannel)
		}
		c.opens[m.id] = m
		return
	}
	l, err := c.spawnChannel(ctx, m.id)
	if err != nil {
		c.Fail(ctx, err)
		m.reply <- nil
		return
	}
	c.Add(&l.Child)
	c.sendOn(m.id, &protocol.ChannelOpenOk{})
	m.reply <- l
}

func (c *connection) spawnChannel(ctx actor.Context, id uint16) (*channel, error) {
	if n := len(c.Children); c.session.ChannelMax != 0 && n >= int(c.session.ChannelMax) {
		return nil, protocol.ConnectionErrorf(protocol.NotAllowed,
			"number of channels opened (%d) has reached the negotiated channel_max (%d)", n, c.session.ChannelMax)
	}
	pid, err := c.Spawn(ctx, id, func() *actor.Props {
		return c.cfg.NewChannel(ChannelSpec{
			ID: id, Connection: c.Self, Name: c.Name, Outbox: c.Outbox, Gate: c.Gate, Arrivals: c.Arrivals, Unread: c.Unread, Replies: &c.replies, Objects: c.Objects,
			FrameMax: c.session.FrameMax, VHost: c.session.VHost, User: c.session.User,
			Capabilities: c.session.capabilities, ClientProduct: c.session.product, Log: &c.Log, By: c.session.By,
		})
	})
	return &channel{Child: lifecycle.Child{ID: id, PID: pid}}, err
}

// channelClosed frees a number.
func (c *connection) channelClosed(ctx actor.Context, m *mail.ChannelClosed) {
	if !c.Remove(m.ID, m.Channel) {
		return
	}
	if m.SendCloseOk && c.State == lifecycle.Running {
		c.sendOn(m.ID, &protocol.ChannelCloseOk{})
	}
	if open := c.opens[m.ID]; open != nil {
		delete(c.opens, m.ID)
		c.openChannel(ctx, open)
	}
	c.DeleteExclusiveQueues(ctx)
}

// ChildFailed implements lifecycle.Protocol.
func (c *connection) ChildFailed(ctx actor.Context, l *lifecycle.Child) {
	c.channelClosed(ctx, &mail.ChannelClosed{ID: l.ID, Channel: l.PID})
	c.Fail(ctx, fmt.Errorf("channel %d failed", l.ID))
}
