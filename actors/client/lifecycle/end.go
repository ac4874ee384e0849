package lifecycle

import (
	"errors"
	"time"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// State is the state of a connection.
type State uint8

// The states.
const (
	Starting State = iota // the reader runs the handshake
	Running               // channels or sessions may be opened
	Closing               // waiting for these to end, then for the vhost
	Closed                // the last frame is in the outbox
)

func (s State) String() string { return [...]string{"starting", "running", "closing", "closed"}[s] }

// Grace is how long the socket stays open for a peer whose data the broker no longer processes, or whose close it has
// answered: closing it earlier could prevent the peer from reading the last frame.
const Grace = 3 * time.Second

// closeFor ends the connection for a CloseConnection, unless it is meant for other connections.
func (l *Connection) closeFor(ctx actor.Context, m *mail.CloseConnection) {
	err, p := m.Err, l.peer
	switch {
	case m.VHost != "" && (p == nil || p.VHost.Name != m.VHost), m.User != "" && (p == nil || p.User.Name != m.User):
		return
	case l.State == Starting:
		l.Leave(ctx)
		return
	}
	if err == nil {
		err = protocol.ConnectionErrorf(protocol.ConnectionForced, "broker forced connection closure")
	}
	l.protocol.Fail(ctx, err)
}

// lose ends the connection because the socket or the peer is dead.
func (l *Connection) lose(ctx actor.Context, err error) {
	l.lost = true
	l.Outbox.Close()
	switch l.State {
	case Running:
		if errors.Is(err, errUnread) { // the monitor logs how many
			l.Log.Debug().Err(err).Msg("connection cut off")
		} else {
			l.Log.Warn().Err(err).Msg("client unexpectedly closed TCP connection")
		}
		l.Close(ctx)
	case Starting, Closed:
		l.Leave(ctx)
	case Closing: // the end continues without the socket
	}
}

// Close starts the end of a running connection: every channel or session returns its deliveries.
func (l *Connection) Close(ctx actor.Context) {
	if l.State != Running {
		panic("connection: closing from " + l.State.String())
	}
	l.State = Closing
	l.leaveRunning()
	l.Arm(l.cfg.CloseTimeout)
	for _, k := range l.Children {
		l.Root.Send(k.PID, &mail.CloseChannel{})
	}
	l.DeleteExclusiveQueues(ctx)
}

// leaveRunning disconnects the channels or sessions from the reader: none gets input after CloseChannel.
func (l *Connection) leaveRunning() {
	l.PostMu.Lock()
	defer l.PostMu.Unlock()
	if !IsClosed(l.Stopping) {
		close(l.Stopping)
	}
}

// DeleteExclusiveQueues deletes the exclusive queues of a closing connection once no channel or session is left:
// clients expect them to be deleted when the connection is closed.
func (l *Connection) DeleteExclusiveQueues(ctx actor.Context) {
	if l.State != Closing || len(l.Children) > 0 || l.released {
		return
	}
	l.released = true
	if l.peer.VHost.PID == nil {
		l.becomeClosed(ctx)
		return
	}
	actorlib.Send(l.Root, l.peer.VHost.PID, &mail.ReleaseConnection{
		Request: mail.Request{ReplyTo: l.Self}, Connection: l.Self,
	})
}

// becomeClosed sends the last frame. A client that closes has Grace to close the socket once it has the frame. Until
// then it may still be sending, because in some libraries close may overtake output queued for channels. As in RabbitMQ
// nothing follows the frame, not even the end of the stream, which a client might see before it has processed the frame
// and treat as a failure.
func (l *Connection) becomeClosed(ctx actor.Context) {
	l.State = Closed
	l.peer.Leave() // a client that sees the close may open another connection
	l.Arm(l.cfg.CloseTimeout)
	if l.lost {
		l.Leave(ctx)
		return
	}
	answered, hurried := l.protocol.SendClose()
	if hurried {
		l.Arm(min(Grace, l.cfg.CloseTimeout)) // the peer may not read, and the broker may be stopping
	}
	if answered {
		l.Log.Info().Msg("connection closed")
		l.Outbox.Finish(func() { l.Post(&drained{}) })
	}
}

// Leave stops the actor after the channels or sessions, which are stopping themselves; it closes the socket without
// waiting for them.
func (l *Connection) Leave(ctx actor.Context) {
	l.Leaves = true
	_ = l.cfg.Conn.Close()
	if len(ctx.Children()) == 0 {
		ctx.Stop(l.Self)
	}
}

// HangUp ends the output.
func (l *Connection) HangUp() {
	if half, ok := l.cfg.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // errors do not matter: the socket is closed soon
		return
	}
	_ = l.cfg.Conn.Close()
}
