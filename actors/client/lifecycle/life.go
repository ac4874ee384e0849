package lifecycle

import (
	"errors"
	"sync"

	"candlemark/actors/client/connevents"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/outbox"
	"candlemark/internal/transport/stream"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Protocol is the part added by the actor of one protocol. It is called in the actor's turns.
type Protocol interface {
	// Read starts the reader.
	Read()
	// Heartbeat appends the frame of a heartbeat.
	Heartbeat(b []byte) []byte
	// Alarmed is called after each change of Alarm.
	Alarmed()
	// Fail ends a running connection with an error for the client.
	Fail(ctx actor.Context, err error)
	// ChildFailed is called when a channel or session has ended without ChannelClosed.
	ChildFailed(ctx actor.Context, l *Child)
	// SendClose sends the last frame. answered: the client has closed the connection, and nothing follows. hurried: the
	// client may not be reading.
	SendClose() (answered, hurried bool)
	// Stop releases the resources added by the protocol.
	Stop()
}

// Wording are the terms of a protocol in texts for administrators.
type Wording struct {
	Protocol string // in answers to DescribeConnection
	Logged   string // in the log, "" for none
	Children string // "channels" or "sessions"
	Child    string // one of them, before its number
	Silent   string // reason for closing the connection of a silent peer
}

// Connection is the part of a connection's actor that both protocols share. The fields below the line belong to the actor's
// turns; the reader and the writer use only the fields above.
type Connection struct {
	Name     string
	Log      zerolog.Logger
	Gate     *message.Gate
	Arrivals *budget.Arrivals
	Outbox   *outbox.Outbox
	Unread   *budget.Output // nil until the connection is open, and without a limit
	Objects  *budget.Holder // nil until the connection is open, and without a limit
	Self     *actor.PID
	Root     *actor.RootContext
	PostMu   sync.Mutex    // held to send from a goroutine, and to close one of:
	Stopping chan struct{} // closed on leaving running: channels or sessions get no more input
	Done     chan struct{} // closed when the actor ends

	cfg      *Settings
	protocol Protocol
	words    *Wording
	since    clock.Instant
	reader   *stream.Reader
	writer   stream.Writer
	over     chan struct{} // of an alarm; capacity 1: a token means "check again"

	// ---
	State            State
	Children         map[uint16]*Child
	Alarm            Alarm
	Leaves           bool // the actor stops after its last channel or session
	SocketHandedOver bool // another actor has the socket

	peer     *Peer  // nil until the handshake is done
	serial   uint64 // channels or sessions opened so far, for unique names
	lost     bool   // the socket is dead
	released bool   // the vhost has released its queues
	pulse    Pulse
	timer    *clock.Wait
	armed    uint64 // generation of the timer
}

// Private mail.
type (
	lost       struct{ err error }    // the socket is unusable
	drained    struct{}               // all output is written
	heldUp     struct{}               // the reader has met a publish during an alarm and has stopped reading
	evicted    struct{}               // the connection must end because of its incomplete work
	cutOff     struct{}               // the connection must end because its client does not read
	timerFired struct{ armed uint64 } // mail of the connection's one timer
)

var (
	errPanic  = errors.New("the broker failed")
	errUnread = errors.New("the client does not read, and other connections need the memory")
)

// Init initialises a connection; the defaults of its settings are already set.
func (l *Connection) Init(cfg *Settings, p Protocol, r *stream.Reader, w *Wording) {
	l.cfg, l.protocol, l.reader, l.words = cfg, p, r, w
	l.Name = NameOf(cfg.Conn)
	l.since = cfg.Clock.Now()
	l.Stopping, l.Done, l.over = make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	l.Log = cfg.Log.With().Str("conn", l.Name).Logger()
	l.Gate = message.NewGate(cfg.InFlightLimit)
	l.Arrivals = cfg.Intake.Of(begun{l})
	l.writer.Conn, l.writer.Clock, l.writer.Timeout = cfg.Conn, cfg.Clock, cfg.SendTimeout
	l.writer.Lost, l.writer.Recover = l.PostLost, func() { l.Recovered("writer", recover()) }
	l.Outbox = outbox.NewDirect(cfg.OutboxLimit, func() { go l.writer.Run() }, l.writer.Direct())
	l.writer.Outbox = l.Outbox
	if _, ok := cfg.Conn.(stream.Vectored); ok {
		l.Outbox.Reference()
	}
}

// Handle handles the mail that is the same in both protocols.
func (l *Connection) Handle(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		l.Self, l.Root = ctx.Self(), ctx.ActorSystem().Root
		l.Arm(l.cfg.HandshakeTimeout)
		l.protocol.Read()
	case *actor.Stopping:
		l.stop()
	case *actor.Terminated:
		l.Root.Send(l.Self, &mail.PeerGone{Who: m.Who})
		if l.Leaves {
			l.Leave(ctx)
		}
	case *lost:
		l.lose(ctx, m.err)
	case *drained:
		l.Arm(min(Grace, l.cfg.CloseTimeout))
	case *timerFired:
		l.timerFired(ctx, m)
	case *evicted:
		l.protocol.Fail(ctx, errEvicted)
	case *cutOff:
		l.lose(ctx, errUnread)
	case *mail.PeerGone:
		l.peerGone(ctx, m.Who)
	case *mail.CloseConnection:
		l.closeFor(ctx, m)
	case *mail.ReleaseConnectionReply:
		if l.State == Closing {
			l.becomeClosed(ctx)
		}
	case *mail.DescribeConnection:
		l.describe(m)
	case *mail.Block:
		l.Alarm.Reason = m.Reason
		l.protocol.Alarmed()
	case *heldUp:
		l.heldUp()
	case *mail.Unblock:
		l.unblock()
	}
}

// Open makes the connection running after the handshake. The error, for the client, is that its virtual host or user
// was deleted during the handshake.
func (l *Connection) Open(p *Peer, pulse Pulse) error {
	l.State, l.peer = Running, p
	p.By = &events.Origin{User: p.User.Name, Source: l.Name, Interface: events.AMQP}
	log := l.Log.With().Str("vhost", p.VHost.Name).Str("user", p.User.Name)
	if name := p.Text("connection_name"); name != "" {
		log = log.Str("client", Cut(name))
	}
	l.Log = log.Logger()
	line := l.Log.Info()
	if l.words.Logged != "" {
		line = line.Str("protocol", l.words.Logged)
	}
	line.Str("product", Cut(p.Text("product"))).Msg("connection opened")
	connevents.Created(l.cfg.Events, p.By, l.Self.Id, l.info)
	l.Unread = l.cfg.Unread.Of(p.User.Name, func() { l.Post(&cutOff{}) })
	l.Outbox.Charge(l.Unread.Part())
	l.Objects = l.cfg.Objects.Connection(p.User.Name, p.VHost.Name)
	l.Objects.Hold(int64(len(p.properties)))
	l.startPulse(pulse)
	return l.cfg.outdated(p)
}

// stop ends everything the actor has started. A panic here would restart it.
func (l *Connection) stop() {
	defer func() {
		if reason := recover(); reason != nil {
			l.Log.Error().Interface("panic", reason).Msg("a connection failed while it stopped")
		}
	}()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.protocol.Stop()
	l.Outbox.Close()
	l.Unread.Close()
	l.Objects.Close()
	l.leaveRunning()
	for _, k := range l.Children {
		l.forget(k)
	}
	if l.peer != nil {
		connevents.Closed(l.cfg.Events, l.peer.By, l.Self.Id, l.info)
	}
	clear(l.Children)
	l.PostMu.Lock()
	close(l.Done)
	l.PostMu.Unlock()
	if !l.SocketHandedOver {
		_ = l.cfg.Conn.Close() // errors do not matter: the socket is abandoned
	}
	if l.peer != nil && l.peer.VHost.PID != nil && !l.released {
		actorlib.Send(l.Root, l.peer.VHost.PID, &mail.ReleaseConnection{Connection: l.Self})
	}
}

// Post sends mail to the actor from a goroutine or timer, unless the actor has ended.
func (l *Connection) Post(m any) {
	l.PostMu.Lock()
	defer l.PostMu.Unlock()
	if !IsClosed(l.Done) {
		l.Root.Send(l.Self, m)
	}
}

// PostLost reports that the socket is unusable. Any goroutine may call it.
func (l *Connection) PostLost(err error) { l.Post(&lost{err}) }

// Recovered turns a panic of a goroutine into the end of the connection instead of the broker.
func (l *Connection) Recovered(who string, reason any) {
	if reason != nil {
		l.Log.Error().Interface("panic", reason).Str("goroutine", who).Msg("connection failed")
		l.PostLost(errPanic)
	}
}

// IsClosed reports whether a channel on which nothing is sent is closed.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
