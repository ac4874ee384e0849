package mailbox_test

import (
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"candlemark/actors/system/mailbox"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newSystem(t testing.TB) *actor.ActorSystem {
	system := actor.NewActorSystemWithConfig(actor.Configure(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })))
	t.Cleanup(system.Shutdown)
	return system
}

func newDispatcher(t testing.TB, workers int) *mailbox.Dispatcher {
	d := mailbox.NewDispatcher(workers)
	t.Cleanup(d.Stop)
	return d
}

// unwanted returns a handler that fails the test when a closed mailbox receives mail.
func unwanted(t testing.TB) func(any) {
	return func(mail any) { t.Errorf("undeliverable: %v", mail) }
}

func props(d actor.Dispatcher, m *mailbox.Mailbox, receive actor.ReceiveFunc, more ...actor.PropsOption) *actor.Props {
	return actor.PropsFromFunc(receive, append([]actor.PropsOption{
		actor.WithDispatcher(d), actor.WithMailbox(func() actor.Mailbox { return m }),
	}, more...)...)
}

// manual is a dispatcher whose turns run on request; its throughput is 4.
type manual struct{ turns []func() }

func (d *manual) Schedule(turn func()) { d.turns = append(d.turns, turn) }
func (d *manual) Throughput() int      { return 4 }
func (d *manual) step() (ran bool) {
	if len(d.turns) == 0 {
		return false
	}
	turn := d.turns[0]
	d.turns = d.turns[1:]
	turn()
	return true
}

func (d *manual) drain() {
	for d.step() {
	}
}

// log is an invoker that records its calls; user is called for each user mail.
type log struct {
	lines []any
	user  func(mail any)
}

type escalated struct{ reason, mail any }

func (l *log) InvokeSystemMessage(mail any)     { l.lines = append(l.lines, mail) }
func (l *log) EscalateFailure(reason, mail any) { l.lines = append(l.lines, escalated{reason, mail}) }

func (l *log) InvokeUserMessage(mail any) {
	l.lines = append(l.lines, mail)
	if l.user != nil {
		l.user(mail)
	}
}

func started(m *mailbox.Mailbox) (*log, *manual) {
	l, d := &log{}, &manual{}
	m.RegisterHandlers(l, d)
	m.Start()
	return l, d
}

func expect(t *testing.T, what string, got []any, want ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func TestMailPostedBeforeStartWaits(t *testing.T) {
	m := mailbox.New(unwanted(t))
	m.PostUserMessage(1)
	m.PostSystemMessage("started")
	if m.UserMessageCount() != 1 {
		t.Fatalf("count %d", m.UserMessageCount())
	}
	l, d := started(m)
	d.drain()
	expect(t, "handled", l.lines, "started", 1)
}

func TestSystemMailPassesUserMail(t *testing.T) {
	m := mailbox.New(unwanted(t))
	l, d := started(m)
	l.user = func(mail any) {
		if mail == 1 {
			m.PostSystemMessage("s2")
			m.PostSystemMessage("s3")
		}
	}
	for i := range 3 {
		m.PostUserMessage(i + 1)
	}
	m.PostSystemMessage("s1")
	d.drain()
	expect(t, "handled", l.lines, "s1", 1, "s2", "s3", 2, 3)
}

func TestSuspendedUserMailWaitsForResume(t *testing.T) {
	m := mailbox.New(unwanted(t))
	l, d := started(m)
	m.PostUserMessage(1)
	m.PostSystemMessage(&actor.SuspendMailbox{})
	d.drain()
	m.PostUserMessage(2)
	if len(d.turns) != 0 {
		t.Error("user mail woke a suspended actor")
	}
	m.PostSystemMessage("watch")
	d.drain()
	expect(t, "while suspended", l.lines, "watch")
	if m.UserMessageCount() != 2 {
		t.Errorf("count %d", m.UserMessageCount())
	}
	m.PostSystemMessage(&actor.ResumeMailbox{})
	d.drain()
	expect(t, "resumed", l.lines, "watch", 1, 2)
}

func TestPanicIsEscalatedAndTheRestStays(t *testing.T) {
	m := mailbox.New(unwanted(t))
	l, d := started(m)
	l.user = func(mail any) {
		if mail == 2 {
			panic("bad mail")
		}
	}
	for i := range 5 {
		m.PostUserMessage(i + 1)
	}
	d.drain()
	expect(t, "handled", l.lines, 1, 2, escalated{"bad mail", 2}, 3, 4, 5)
}

func TestTurnEndsAfterThroughput(t *testing.T) {
	m := mailbox.New(unwanted(t))
	l, d := started(m)
	for i := range 10 {
		m.PostUserMessage(i)
	}
	for _, want := range []int{4, 8, 10} {
		if !d.step() || len(l.lines) != want {
			t.Fatalf("handled %d, want %d", len(l.lines), want)
		}
	}
	if d.step() {
		t.Error("an empty mailbox was scheduled")
	}
}

func TestCloseInsideReceive(t *testing.T) {
	var late []any
	m := mailbox.New(func(mail any) { late = append(late, mail) })
	l, d := started(m)
	var left []any
	l.user = func(mail any) {
		if mail == 2 {
			m.PostUserMessage(5)
			left = m.Close()
			m.PostUserMessage(&actor.MessageEnvelope{Message: 6})
			m.PostSystemMessage("stop")
		}
	}
	for _, mail := range []any{1, 2, 3, &actor.MessageEnvelope{Message: 4}} {
		m.PostUserMessage(mail)
	}
	d.drain()
	expect(t, "handled", l.lines, 1, 2, "stop")
	expect(t, "left", left, 3, 4, 5)
	expect(t, "undeliverable", late, 6)
	expect(t, "second Close", m.Close())
	if m.UserMessageCount() != 0 || len(d.turns) != 0 {
		t.Error("a closed mailbox still counts or runs mail")
	}
}

func TestCloseWhileSuspendedReturnsAll(t *testing.T) {
	m := mailbox.New(unwanted(t))
	l, d := started(m)
	l.user = func(any) { m.PostSystemMessage(&actor.SuspendMailbox{}) }
	var rest []any
	for i := range 50 {
		m.PostUserMessage(i)
		rest = append(rest, i)
	}
	d.drain()
	expect(t, "handled", l.lines, 0)
	expect(t, "left", m.Close(), rest[1:]...)
	m.PostSystemMessage(&actor.ResumeMailbox{})
	d.drain()
	expect(t, "handled after Close", l.lines, 0)
}

type batch struct{}

func (*batch) GetMessages() []any { return []any{1, 2} }

func TestMailIsNotLookedInto(t *testing.T) {
	m := mailbox.New(unwanted(t))
	l, d := started(m)
	b := &batch{}
	m.PostUserMessage(b)
	m.PostUserMessage(nil)
	d.drain()
	expect(t, "handled", l.lines, b, nil)
}

func TestTraceSeesUserMailUnwrapped(t *testing.T) {
	m := mailbox.New(unwanted(t))
	var seen []any
	m.Trace = func(mail any) { seen = append(seen, mail) }
	_, d := started(m)
	m.PostSystemMessage("started")
	m.PostUserMessage(1)
	m.PostUserMessage(&actor.MessageEnvelope{Message: 2})
	d.drain()
	expect(t, "traced", seen, 1, 2)
}

type post struct{ producer, number int }

func TestOrderPerProducer(t *testing.T) {
	const producers, each = 4, 20_000
	system, d, m := newSystem(t), newDispatcher(t, 3), mailbox.New(unwanted(t))
	last := make([]int, producers)
	done := make(chan struct{})
	total := 0
	pid := system.Root.Spawn(props(d, m, func(c actor.Context) {
		p, ok := c.Message().(post)
		if !ok {
			return
		}
		if p.number != last[p.producer]+1 {
			t.Errorf("producer %d: %d after %d", p.producer, p.number, last[p.producer])
		}
		last[p.producer] = p.number
		if total++; total == producers*each {
			close(done)
		}
	}))
	var all sync.WaitGroup
	for producer := range producers {
		all.Go(func() {
			for number := range each {
				system.Root.Send(pid, post{producer, number + 1})
			}
		})
	}
	all.Wait()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("mail is missing")
	}
}
