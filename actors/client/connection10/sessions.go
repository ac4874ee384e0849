package connection10

import (
	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"

	"github.com/asynkron/protoactor-go/actor"
)

// beginSession asks the actor for a session. The reply, nil if the connection is closing, must not block.
type beginSession struct {
	channel uint16
	begin   Begin
	reply   chan<- *lifecycle.Child
}

// beginSession spawns the session, which answers the client itself, or waits until the channel is free: the client may
// reuse it as soon as it has seen or sent end, even though the session may not have ended yet.
func (c *connection) beginSession(ctx actor.Context, m *beginSession) {
	if c.State != lifecycle.Running {
		m.reply <- nil
		return
	}
	if c.Children[m.channel] != nil {
		c.begins[m.channel] = m
		return
	}
	l, err := c.spawnSession(ctx, m)
	if err != nil {
		c.Fail(ctx, err)
		m.reply <- nil
		return
	}
	c.Add(l)
	if c.blocked {
		c.tellAlarm(l)
	}
	m.reply <- l
}

func (c *connection) spawnSession(ctx actor.Context, m *beginSession) (*lifecycle.Child, error) {
	pid, err := c.Spawn(ctx, m.channel, func() *actor.Props {
		return c.cfg.NewSession(SessionSpec{
			Channel: m.channel, Begin: m.begin, Connection: c.Self, Name: c.Name, Container: c.peer.open.ContainerID, Outbox: c.Outbox, Gate: c.Gate, Arrivals: c.Arrivals, Unread: c.Unread, Objects: c.Objects,
			FrameMax: c.peer.FrameMax, VHost: c.peer.VHost, User: c.peer.User, Peer: c.reader.whom(), By: c.peer.By, Tokens: &c.tokens.table, Transactions: &c.work.Known, Log: &c.Log,
		})
	})
	return &lifecycle.Child{ID: m.channel, PID: pid}, err
}

// sessionEnded frees a channel.
func (c *connection) sessionEnded(ctx actor.Context, m *mail.ChannelClosed) {
	if !c.Remove(m.ID, m.Channel) {
		return
	}
	transact(c, m)
	if begin := c.begins[m.ID]; begin != nil {
		delete(c.begins, m.ID)
		c.beginSession(ctx, begin)
	}
	c.DeleteExclusiveQueues(ctx)
}

// ChildFailed implements lifecycle.Protocol.
func (c *connection) ChildFailed(ctx actor.Context, l *lifecycle.Child) {
	transact(c, &sessionFailed{l.PID})
	c.sessionEnded(ctx, &mail.ChannelClosed{ID: l.ID, Channel: l.PID})
	c.Fail(ctx, amqp10.Errorf(amqp10.InternalError, "the session of channel %d failed", l.ID))
}
