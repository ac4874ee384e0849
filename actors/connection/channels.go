package connection

import (
	"fmt"
	"sync/atomic"

	"candlemark/actors/connection/connevents"
	"candlemark/actors/mail"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// link is one opened channel. The actor keeps it until the channel has closed, the reader until the client opens the
// number again.
type link struct {
	id    uint16
	pid   *actor.PID
	ended atomic.Bool // the channel has ended

	// For the reader only:
	closing bool     // the client has sent close or close-ok
	late    int      // how often it has sent them again
	first   []byte   // run of frames that waits for the end of the read
	more    [][]byte // further runs
}

// openChannel asks the actor for a channel. The reply, nil if the connection is closing, must not block.
type openChannel struct {
	id    uint16
	reply chan<- *link
}

// openChannel spawns the channel and answers the client, or waits until the number is free: the client may reuse it
// as soon as it has seen or sent close-ok, when the channel may not have ended yet.
func (c *connection) openChannel(ctx actor.Context, m *openChannel) {
	if c.state != running {
		m.reply <- nil
		return
	}
	if c.channels[m.id] != nil {
		if c.opens == nil {
			c.opens = make(map[uint16]*openChannel)
		}
		c.opens[m.id] = m
		return
	}
	if n := len(c.channels); c.session.channelMax != 0 && n >= int(c.session.channelMax) {
		c.fail(ctx, protocol.ConnectionErrorf(protocol.NotAllowed,
			"number of channels opened (%d) has reached the negotiated channel_max (%d)", n, c.session.channelMax), false)
		m.reply <- nil
		return
	}
	if err := c.countChannel(); err != nil {
		c.fail(ctx, err, false)
		m.reply <- nil
		return
	}
	l, err := c.spawnChannel(ctx, m.id)
	if err != nil {
		c.discountChannel()
		c.fail(ctx, fmt.Errorf("spawning channel %d: %w", m.id, err), false)
		m.reply <- nil
		return
	}
	if c.channels == nil {
		c.channels = make(map[uint16]*link)
	}
	c.channels[m.id] = l
	connevents.Channel(c.cfg.Events, "channel.created", c.session.by, l.id, l.pid.Id, c.info)
	c.sendOn(m.id, &protocol.ChannelOpenOk{})
	m.reply <- l
}

// countChannel counts a channel for its user's limit.
func (c *connection) countChannel() error {
	if c.cfg.Quota == nil {
		return nil
	}
	return c.cfg.Quota.OpenChannel(c.session.user.Name)
}

func (c *connection) discountChannel() {
	if c.cfg.Quota != nil {
		c.cfg.Quota.CloseChannel(c.session.user.Name)
	}
}

func (c *connection) spawnChannel(ctx actor.Context, id uint16) (*link, error) {
	props := c.cfg.NewChannel(ChannelSpec{
		ID: id, Connection: c.self, Name: c.name, Outbox: c.outbox, Gate: c.gate, Arrivals: c.arrivals, Replies: &c.replies,
		FrameMax: c.session.frameMax, VHost: c.session.vhost, User: c.session.user,
		Capabilities: c.session.capabilities, ClientProduct: c.session.product, Log: &c.log, By: c.session.by,
	})
	// The serial makes names unique: a number may be reused before the name of its last owner is free.
	c.serial++
	pid, err := ctx.SpawnNamed(props, fmt.Sprintf("channel/%d.%d", id, c.serial))
	if err != nil {
		return nil, err
	}
	return &link{id: id, pid: pid}, nil
}

// channelClosed frees a number.
func (c *connection) channelClosed(ctx actor.Context, m *mail.ChannelClosed) {
	l := c.channels[m.ID]
	if l == nil || m.Channel != nil && !l.pid.Equal(m.Channel) {
		return
	}
	l.ended.Store(true)
	delete(c.channels, m.ID)
	connevents.Channel(c.cfg.Events, "channel.closed", c.session.by, m.ID, l.pid.Id, c.info)
	c.discountChannel()
	if m.SendCloseOk && c.state == running {
		c.sendOn(m.ID, &protocol.ChannelCloseOk{})
	}
	if open := c.opens[m.ID]; open != nil {
		delete(c.opens, m.ID)
		c.openChannel(ctx, open)
	}
	c.deleteExclusiveQueues(ctx)
}

// peerGone handles the end of an actor. A channel that ends without ChannelClosed has failed.
func (c *connection) peerGone(ctx actor.Context, who *actor.PID) {
	for id, l := range c.channels {
		if !l.pid.Equal(who) {
			continue
		}
		c.channelClosed(ctx, &mail.ChannelClosed{ID: id, Channel: who})
		c.fail(ctx, fmt.Errorf("channel %d failed", id), false)
		return
	}
}
