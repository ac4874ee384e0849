package connection10

import (
	"fmt"

	"candlemark/actors/connection/connevents"
	"candlemark/actors/mail"
	"candlemark/protocol/amqp10"

	"github.com/asynkron/protoactor-go/actor"
)

// link is one session. The actor keeps it until the session has ended, the
// reader until the client begins another on its channel.
type link struct {
	channel uint16
	pid     *actor.PID

	// For the reader only:
	closing bool     // the client has sent end
	runs    [][]byte // of frames that wait for the end of the read
}

// beginSession asks the actor for a session. The reply, nil if the connection is closing, must not block.
type beginSession struct {
	channel uint16
	begin   Begin
	reply   chan<- *link
}

// beginSession spawns the session, which answers the client itself, or waits until the channel is free: the client
// may reuse it as soon as it has seen or sent end, when the session may not have ended yet.
func (c *connection) beginSession(ctx actor.Context, m *beginSession) {
	if c.state != running {
		m.reply <- nil
		return
	}
	if c.links[m.channel] != nil {
		c.begins[m.channel] = m
		return
	}
	l, err := c.spawnSession(ctx, m)
	if err != nil {
		c.fail(ctx, err)
		m.reply <- nil
		return
	}
	c.links[m.channel] = l
	connevents.Channel(c.cfg.Events, "channel.created", c.peer.by, l.channel, l.pid.Id, c.info)
	m.reply <- l
}

func (c *connection) spawnSession(ctx actor.Context, m *beginSession) (*link, error) {
	if q := c.cfg.Quota; q != nil {
		if err := q.OpenChannel(c.peer.user.Name); err != nil {
			return nil, err
		}
	}
	props := c.cfg.NewSession(SessionSpec{
		Channel: m.channel, Begin: m.begin, Connection: c.self, Name: c.name, Container: c.peer.open.ContainerID, Outbox: c.outbox, Gate: c.gate, Arrivals: c.arrivals,
		FrameMax: c.peer.frameMax, VHost: c.peer.vhost, User: c.peer.user, Peer: c.reader.whom(), By: c.peer.by, Tokens: &c.tokens.table, Transactions: &c.work.Known, Log: &c.log,
	})
	// The serial makes names unique: a number may be reused before the name of its last owner is free.
	c.serial++
	pid, err := ctx.SpawnNamed(props, fmt.Sprintf("channel/%d.%d", m.channel, c.serial))
	if err != nil {
		c.discountSession()
		return nil, fmt.Errorf("spawning the session of channel %d: %w", m.channel, err)
	}
	return &link{channel: m.channel, pid: pid}, nil
}

func (c *connection) discountSession() {
	if c.cfg.Quota != nil {
		c.cfg.Quota.CloseChannel(c.peer.user.Name)
	}
}

// sessionEnded frees a channel.
func (c *connection) sessionEnded(ctx actor.Context, m *mail.ChannelClosed) {
	l := c.links[m.ID]
	if l == nil || !l.pid.Equal(m.Channel) {
		return
	}
	delete(c.links, m.ID)
	transact(c, m)
	connevents.Channel(c.cfg.Events, "channel.closed", c.peer.by, m.ID, l.pid.Id, c.info)
	c.discountSession()
	if begin := c.begins[m.ID]; begin != nil {
		delete(c.begins, m.ID)
		c.beginSession(ctx, begin)
	}
	c.deleteExclusiveQueues(ctx)
}

// peerGone handles the end of an actor. A session that ends without ChannelClosed has failed.
func (c *connection) peerGone(ctx actor.Context, who *actor.PID) {
	for channel, l := range c.links {
		if l.pid.Equal(who) {
			transact(c, &sessionFailed{who})
			c.sessionEnded(ctx, &mail.ChannelClosed{ID: channel, Channel: who})
			c.fail(ctx, amqp10.Errorf(amqp10.InternalError, "the session of channel %d failed", channel))
			return
		}
	}
}
