package testkit

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	"github.com/asynkron/protoactor-go/actor"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// patience is how long a helper waits, in virtual time.
const patience = time.Minute

// Bubble is one broker in a bubble of its own.
type Bubble struct {
	*testing.T
	Node *supervision.Node
	// Users start with guest and the virtual host /.
	Users *auth.Users
	// Log holds what the broker has logged at the level of warnings and above.
	Log *Log
	// Journal and, in RunStored, Meta are the stores of the broker.
	Journal *memory.Journal
	Meta    *definitions.Memory
	start   time.Time
	change  func(*supervision.Config)
	atOnce  bool
}

// Run starts a broker in a bubble and runs test in it: with the memory journal, the user guest, and the configuration
// changed by change, unless nil. The broker is stopped inside the bubble when test returns or fails; connected clients
// get an error.
func Run(t *testing.T, change func(*supervision.Config), test func(b *Bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(t, &Bubble{change: change}, test) })
}

// RunAtOnce is Run with a journal that takes no time.
func RunAtOnce(t *testing.T, change func(*supervision.Config), test func(b *Bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(t, &Bubble{change: change, atOnce: true}, test) })
}

// RunStored is Run for a broker that keeps its definitions: it can be started
// again.
func RunStored(t *testing.T, change func(*supervision.Config), test func(b *Bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(t, &Bubble{change: change, Meta: definitions.NewMemory()}, test) })
}

func run(t *testing.T, b *Bubble, test func(b *Bubble)) {
	t.Helper()
	b.T, b.Log, b.start = t, &Log{}, time.Now()
	b.Log.Allow("CONNECTION_FORCED") // to clients connected when the broker stops
	defer b.Log.check(t)
	o := options
	if b.atOnce {
		o.Delay = 0
	}
	b.Journal = memory.New(o)
	defer func() { _ = b.Journal.Close() }()
	if b.Meta != nil {
		defer func() { _ = b.Meta.Close() }()
	}
	b.startNode()
	defer b.stop()
	test(b)
}

var options = memory.Options{Delay: time.Millisecond}

func (b *Bubble) startNode() {
	b.Helper()
	b.Users = auth.NewGuest()
	cfg := supervision.Config{
		Users: b.Users, Journal: b.Journal, Log: zerolog.New(b.Log).Level(zerolog.WarnLevel), Workers: 2,
		// The client library's heartbeats poll a timer channel that is due, which Go's
		// race detector does not survive in a bubble (docs/CONTRIBUTING.md).
		Limits: supervision.Limits{NoHeartbeat: true},
		Dial:   unreachable,
	}
	if b.Meta != nil {
		cfg.Meta = b.Meta
	}
	if b.change != nil {
		b.change(&cfg)
	}
	var err error
	if b.Node, err = supervision.Start(cfg); err != nil {
		b.Fatal("start:", err)
	}
}

// unreachable replaces the network for shovels. A name that is looked up in a bubble ends the process in the next one.
func unreachable(context.Context, *parameters.URI) (net.Conn, error) {
	return nil, errors.New("a bubble has no network")
}

// Restart stops the broker and starts it again, after off of virtual time, with its stored data.
func (b *Bubble) Restart(off time.Duration) {
	b.Helper()
	b.stop()
	b.Journal, b.Meta = b.Journal.Reopen(options), b.Meta.Reopen()
	b.Advance(off)
	b.startNode()
}

// Crash is Restart after a crash: the stores keep nothing that the orderly stop writes.
func (b *Bubble) Crash(off time.Duration) {
	b.Helper()
	journal, defs := b.Journal.Reopen(options), b.Meta.Reopen()
	b.Log.Allow("definition could not be", "journal is closed") // by what still writes
	b.stop()
	b.Journal, b.Meta = journal, defs
	b.Advance(off)
	b.startNode()
}

// Abandon is Restart for a broker whose process has ended: nobody waits for it.
func (b *Bubble) Abandon(off time.Duration) {
	b.Helper()
	ended, end := context.WithCancel(context.Background())
	end()
	_ = b.Node.Stop(ended) // the error says that it did not end in order
	b.Advance(time.Second + off)
	b.startNode()
}

func (b *Bubble) stop() {
	if b.Node == nil {
		return // it failed to start
	}
	if err := b.Node.Stop(context.Background()); err != nil {
		b.Error("stop:", err)
	}
	b.Advance(time.Second) // for the library's own short-lived goroutines
}

// Advance lets d of virtual time pass and waits until all goroutines are blocked.
func (b *Bubble) Advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// AdvanceTo advances to the moment d after the bubble began.
func (b *Bubble) AdvanceTo(d time.Duration) { b.Advance(d - b.Elapsed()) }

// Elapsed returns how much virtual time has passed since the bubble began.
func (b *Bubble) Elapsed() time.Duration { return time.Since(b.start) }

// VHost returns the virtual host /.
func (b *Bubble) VHost() *topology.VHost {
	v, ok := b.Node.VHost("/")
	if !ok {
		b.Fatal("no virtual host /")
	}
	return v
}

// Queue finds a queue in the directory of /, nil if it does not exist. It renews no lease.
func (b *Bubble) Queue(name string) *topology.Queue {
	synctest.Wait()
	return b.VHost().Directory().Queue([]byte(name))
}

// Actor returns the broker's actor of that name, such as policies.
func (b *Bubble) Actor(name string) *actor.PID {
	return b.Node.System().NewLocalPID("broker/" + name)
}

// Connect opens a client connection as guest to the virtual host /.
func (b *Bubble) Connect() *Client { return b.ConnectAs("guest", "guest") }

// ConnectAs is Connect as a user.
func (b *Bubble) ConnectAs(user, password string) *Client {
	b.Helper()
	return b.connect(user, password, 0)
}

// ConnectFew is Connect with at most 16 channels, so that their numbers are used again
// and again.
func (b *Bubble) ConnectFew() *Client {
	b.Helper()
	return b.connect("guest", "guest", 16)
}

// ConnectTo is Connect to another broker of the test.
func (b *Bubble) ConnectTo(node *supervision.Node) *Client {
	b.Helper()
	return b.open(node, "guest", "guest", 0)
}

func (b *Bubble) connect(user, password string, channels uint16) *Client {
	b.Helper()
	return b.open(b.Node, user, password, channels)
}

func (b *Bubble) open(node *supervision.Node, user, password string, channels uint16) *Client {
	b.Helper()
	ours, theirs := net.Pipe()
	node.Connect(ours)
	conn, err := amqp.Open(theirs, amqp.Config{
		SASL: []amqp.Authentication{&amqp.PlainAuth{Username: user, Password: password}}, Vhost: "/", ChannelMax: channels,
	})
	if err != nil {
		_ = theirs.Close()
		b.Fatal("connect:", err)
	}
	c := &Client{Connection: conn, b: b, Socket: theirs, Closed: conn.NotifyClose(make(chan *amqp.Error, 1))}
	return c
}

// Receive waits for the next value from a Go channel, at most a virtual minute.
func Receive[T any](b *Bubble, from <-chan T) T {
	b.Helper()
	v, ok := TryReceive(from, patience)
	if !ok {
		b.Fatalf("no %T within %s, or its channel was closed", v, patience)
	}
	return v
}

// TryReceive waits at most the given virtual time; it returns false if no value arrives or the Go channel is closed.
// Without a time, pending mail still arrives.
func TryReceive[T any](from <-chan T, within time.Duration) (T, bool) {
	timeout := time.NewTimer(max(within, 1))
	defer timeout.Stop()
	select {
	case v, ok := <-from:
		return v, ok
	case <-timeout.C:
		var none T
		return none, false
	}
}

// Silent fails the test if a value arrives within the given virtual time.
func Silent[T any](b *Bubble, from <-chan T, within time.Duration) {
	b.Helper()
	if v, ok := TryReceive(from, within); ok {
		b.Fatalf("unexpected %T: %+v", v, v)
	}
}
