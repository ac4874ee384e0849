package supervision

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/actors/system/mailbox"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/activity"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/socket"
	"candlemark/internal/transport/stream"
	"candlemark/supervision/ask"
	"candlemark/supervision/queries"
	"candlemark/supervision/recurring"
	"candlemark/supervision/resources"
	"candlemark/supervision/testclock"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a broker.
type Config struct {
	// Users are the users and virtual hosts at the start; nil stands for a new broker's.
	Users *auth.Users
	// Authenticator and Permissions replace Users in tests; nil means Users.
	Authenticator auth.Authenticator
	Permissions   auth.Permissions
	Journal       store.Journal // closed by its owner, after Stop
	// Meta stores durable definitions; closed like the journal. Nil stores nothing. Users, policies and the rest are
	// loaded from it.
	Meta definitions.Store
	// Backups backs up Journal and Meta; nil for none.
	Backups management.Backups
	// Cluster knows the other nodes; nil for a broker alone.
	Cluster management.Cluster
	// Process controls the program's log levels and its end; nil for neither, as in tests.
	Process management.Process
	// Product is the product name sent to clients over AMQP; Candlemark.
	Product        string
	ProductVersion string
	Name           string // of the node, as the HTTP API shows it
	DataDirectory  string // the data folder as the HTTP API shows it; "" for none
	// EventsIn is the virtual host in which events are published to amq.rabbitmq.event, or "" if there is none.
	EventsIn   string
	Log        zerolog.Logger
	Audit      *zerolog.Logger // for changes by users; nil means Log
	MaxMessage uint64          // largest body in bytes; 16 MiB
	// MaxEntityMessage is the largest message to an entity of Azure Service Bus that sets no maximum, in bytes; 256 KiB.
	MaxEntityMessage uint64
	StopTimeout      time.Duration // for connections to leave; 10 s
	Workers          int           // of the dispatcher; GOMAXPROCS
	// Trace, if set, is called for every mail sent, from several goroutines; from is nil for readers, timers and other
	// non-actor goroutines. For tests: it adds a middleware to every send.
	Trace func(from, to *actor.PID, what any)
	// Fault, if set, is called before every turn of an actor, even for system mail; true makes the actor panic. For
	// tests; nil costs nothing.
	Fault func(who *actor.PID, what any) bool
	// Dial, if set, connects shovels to other brokers instead of the network. For tests.
	Dial func(ctx context.Context, to *parameters.URI) (net.Conn, error)
	// ShovelFiles is the folder with the files that addresses of shovels may name; "" for none.
	ShovelFiles string
	// Handshake is how long a client may take to open its connection; 10 s.
	Handshake time.Duration
	// SendTimeout is how long a client may read nothing that it is sent; 15 s, negative for no limit.
	SendTimeout time.Duration
	Limits      Limits
	Alarms      resources.Config
	// Clock is the broker's time; it is checked every second for a suspended machine or a changed wall clock, unless it is a test clock. Nil:
	// the machine's clock, unchecked.
	Clock *clock.Clock
	// ClockFile is where the time of a test clock is kept; "" for nowhere. Speed is how fast it passes at first; 0 stands still.
	ClockFile string
	Speed     float64
}

const rootName = "broker"

// Node is one broker. Several may run in one process (PRO-17).
type Node struct {
	cfg          Config
	api          *broker
	queries      *queries.Queries
	parameters   parameterKeeper
	monitor      *resources.Monitor
	patience     stream.Patience
	quota        *auth.Quota
	counted      counted
	sockets      *resources.Sockets
	started      clock.Instant
	clock        *clock.Clock
	system       *actor.ActorSystem
	asker        *ask.Asker
	dispatcher   *mailbox.Dispatcher
	loops        *socket.Loops
	strategy     *strategy
	Failures     *Failures
	crashed      crashedQueues
	clockWatcher clockWatcher
	nodes        *nodeWatcher
	endEvents    func()      // ends publishing of events; nil until that began
	publishing   func() bool // an event is being published
	moves        *testclock.Keeper
	schedules    *recurring.Schedules
	works        *activity.Works   // nil without a test clock
	journal      store.Journal     // cfg.Journal, whose calls are works
	meta         definitions.Store // cfg.Meta, whose changes are works

	root     *actor.PID
	registry mail.Address
	vhosts   topology.VHosts // added and removed only by the root
	changing chan struct{}   // held to change virtual hosts; capacity 1
	// answering is held to write the answer to a command about messages; capacity 1.
	answering         chan struct{}
	directConnections atomic.Uint64 // number of connections of the broker to itself so far
	// incarnations is the last number given to a queue.
	incarnations atomic.Uint64
	starts       uint64 // at least the number of earlier starts with the data folder
	recovery     recovery
	lost         atomic.Uint64 // undeliverable mail without a waiting sender

	mu        sync.Mutex
	listeners []net.Listener
	announced []announced // of others
	serving   sync.WaitGroup
	stopping  bool
}

func (cfg *Config) setDefaults() {
	if cfg.Users == nil {
		cfg.Users = auth.NewGuest()
	}
	if cfg.Authenticator == nil {
		cfg.Authenticator = cfg.Users
	}
	if cfg.Permissions == nil {
		cfg.Permissions = cfg.Users
	}
	cfg.MaxEntityMessage = cmp.Or(cfg.MaxEntityMessage, 256<<10)
	if cfg.MaxMessage == 0 {
		cfg.MaxMessage = 16 << 20
	}
	if cfg.StopTimeout == 0 {
		cfg.StopTimeout = 10 * time.Second
	}
	if cfg.Name == "" {
		cfg.Name = "candlemark@localhost"
	}
}

// Start builds the tree and returns when all virtual hosts are ready: all durable objects are restored, and overdue
// messages are being expired (TTL-26).
func Start(cfg Config) (*Node, error) {
	cfg.setDefaults()
	n := &Node{cfg: cfg, clock: cmp.Or(cfg.Clock, clock.New()), Failures: &Failures{}, parameters: parameterKeeper{node: cfg.Name}, changing: make(chan struct{}, 1), answering: make(chan struct{}, 1), crashed: newCrashedQueues()}
	n.clockWatcher.node = n
	n.works, n.journal, n.meta = watch(&n.cfg)
	n.patience = stream.NewPatience(cfg.SendTimeout, n.clock)
	n.started = n.clock.Real().Now()
	n.parameters.events = newHub(&n.cfg, n.clock.Wall)
	if err := n.load(); err != nil {
		return nil, err
	}
	n.quota = cfg.Limits.quota(cfg.Users)
	n.counted.set(cfg.Limits)
	cfg.Users.PublishTo(n.parameters.events)
	n.strategy = &strategy{log: cfg.Log, failures: n.Failures, crashed: n.crashed}
	logger := slog.New(zerolog.NewSlogHandler(cfg.Log.Level(zerolog.WarnLevel)))
	n.system = actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return logger }),
		// Mail to ended actors starts a goroutine for this long, to count mail that is not logged.
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
	if cfg.Trace != nil {
		n.system.Root.WithSenderMiddleware(n.traced)
	}
	n.dispatcher = mailbox.NewDispatcher(cfg.Workers)
	n.dispatcher.Due = n.clock.CallDue
	n.clock.CarryCalls(n.dispatcher.Carry)
	if j, ok := n.cfg.Journal.(interface{ CarryAnswers(carry func(func())) }); ok {
		j.CarryAnswers(n.dispatcher.Carry)
	}
	n.loops = socket.NewLoops(n.dispatcher.Carry)
	n.wire()
	n.system.EventStream.SubscribeWithPredicate(
		func(event any) { n.undeliverable(event.(*actor.DeadLetterEvent).Message) },
		func(event any) bool { _, ok := event.(*actor.DeadLetterEvent); return ok },
	)
	vhosts := max(len(cfg.Users.VHosts()), 1)
	ready := make(chan error, vhosts)
	props := n.props(func(func() []any) actor.Actor { return &tree{node: n, ready: ready} })
	root, err := n.system.Root.SpawnNamed(props, rootName)
	if err != nil {
		return nil, errors.Join(err, n.Stop(context.Background()))
	}
	n.root = root
	n.monitor.Watch()
	if cfg.Clock != nil && !cfg.Clock.Manual() {
		n.clockWatcher.watch(cfg.Clock)
	}
	if err := n.recovered(ready, vhosts); err != nil {
		return nil, errors.Join(err, n.Stop(context.Background()))
	}
	n.publishing, n.endEvents = publishEvents(n)
	n.nodes = watchNodes(n.api.Cluster, n.parameters.events, n.monitor.MemoryElsewhere)
	n.schedules.Begin(context.Background())
	n.parameters.Begin(context.Background())
	if err := n.moves.Begin(cfg.Speed); err != nil {
		return nil, errors.Join(err, n.Stop(context.Background()))
	}
	return n, nil
}

// props returns the Props of one actor with its own mailbox, whose Close is passed to make. All actors share the
// dispatcher, so none may block.
func (n *Node) props(make func(close func() []any) actor.Actor) *actor.Props {
	box := mailbox.New(n.undeliverable)
	return propsIn(n, func() actor.Mailbox { return box }, func() actor.Actor { return make(box.Close) })
}

// propsOfMany returns the Props of actors that one parent spawns one at a time and never restarts.
func propsOfMany(n *Node, make func(close func() []any) actor.Actor) *actor.Props {
	var box *mailbox.Mailbox // of the actor being made; the library asks for its mailbox after it
	return propsIn(n, func() actor.Mailbox { return box }, func() actor.Actor {
		box = mailbox.New(n.undeliverable)
		return make(box.Close)
	})
}

func propsIn(n *Node, box func() actor.Mailbox, make func() actor.Actor) *actor.Props {
	options := []actor.PropsOption{
		actor.WithMailbox(box),
		actor.WithDispatcher(n.dispatcher),
		actor.WithSupervisor(n.strategy),
	}
	if n.cfg.Trace != nil {
		options = append(options, actor.WithSenderMiddleware(n.traced))
	}
	if fault := n.cfg.Fault; fault != nil {
		return actor.PropsFromProducer(func() actor.Actor { return &faulty{make(), fault} }, options...)
	}
	return actor.PropsFromProducer(make, options...)
}

func (n *Node) traced(next actor.SenderFunc) actor.SenderFunc {
	return func(c actor.SenderContext, to *actor.PID, envelope *actor.MessageEnvelope) {
		n.cfg.Trace(c.Self(), to, envelope.Message)
		next(c, to, envelope)
	}
}

// undeliverable answers mail whose receiver has ended, so that no sender waits for it (PRO-2).
func (n *Node) undeliverable(what any) {
	cause := mail.Gone
	if e, ok := what.(*mail.Enqueue); ok && n.crashed.has(e.Queue) {
		cause = mail.Failed
	}
	switch m := what.(type) {
	case mail.Answerable:
		if to, reply := m.Answer(cause); to != nil {
			actorlib.Send(n.system.Root, to, reply)
		}
	case *mail.Inbound:
		m.Chunk.Release()
	case *mail.Deliver:
		m.Release()
	case accepted:
		n.refuseConnection(m.conn)
	case openLocalChannel:
		m.reply <- nil
	case openChild:
		m.reply <- nil
	default:
		n.lost.Add(1)
	}
}

// API returns the part of the broker that the HTTP API, and its other users, ask.
func (n *Node) API() management.Broker { return n.api }

// Clock returns the broker's clock.
func (n *Node) Clock() *clock.Clock { return n.clock }

// JournalFull reports that the journal waits for room on the disk, or no longer does. While it waits there is a disk
// alarm at any limit.
func (n *Node) JournalFull(full bool) { n.monitor.JournalFull(full) }

// System returns the broker's actor system, for tests.
func (n *Node) System() *actor.ActorSystem { return n.system }

// VHost finds a virtual host.
func (n *Node) VHost(name string) (*topology.VHost, bool) { return n.vhosts.Find(name) }
