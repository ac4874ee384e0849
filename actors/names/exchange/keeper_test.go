package exchange_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/names/exchange"
	"candlemark/actors/names/exchange/history"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// store is a recent-history exchange in a bubble, with queues that record their messages.
type store struct {
	*fixture
	budget budget.Budget
	valve  *budget.Valve
	copies *budget.Copies
	room   budget.Room
}

func inStore(t *testing.T, length int64, test func(s *store)) {
	t.Helper()
	s := &store{}
	s.valve = budget.NewValve(&s.budget)
	x := &topology.Exchange{Name: "x", Type: topology.RecentHistoryType, Arguments: protocol.Table{{Key: "x-recent-history-length", Value: length}}}
	withConfiguredFixture(t, x, policies.ExchangeSettings{}, func(c *exchange.Config) {
		s.copies = budget.NewCopies(&s.budget, s.valve) // with the time of the bubble
		c.Clock, c.Room, c.Valve, c.Copies = clock.New(), &s.room, s.valve, s.copies
	}, func(h *fixture) {
		s.fixture = h
		test(s)
	})
}

// sink is a queue that confirms its messages, at once or when told to.
type sink struct {
	*topology.Queue
	mu    sync.Mutex // for the race detector, which does not see what follows from the virtual time
	got   []string
	ttl   []int64
	tags  []bool // whether messages need a confirm
	mails int
	holds bool
	owes  []func()
}

func (s *store) queue(name string) *sink {
	k := &sink{}
	pid := s.root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		m, is := ctx.Message().(*mail.Enqueue)
		if !is {
			return
		}
		k.mu.Lock()
		k.mails++
		for _, m := range m.Messages {
			k.got = append(k.got, string(m.Body))
			k.ttl = append(k.ttl, m.TTL)
			k.tags = append(k.tags, m.Number != 0)
		}
		k.mu.Unlock()
		to, reply := m.Answer(mail.Gone)
		answer := func() {
			if to != nil {
				actorlib.Send(s.root, to, reply)
			}
		}
		if k.holds {
			k.owes = append(k.owes, answer)
			return
		}
		answer()
	}))
	k.Queue = &topology.Queue{Name: name, PID: pid}
	return k
}

// answers sends the confirms held back.
func (k *sink) answers() {
	owes := k.owes
	k.owes = nil
	for _, answer := range owes {
		answer()
	}
	synctest.Wait()
}

func (s *store) stop(k *sink) {
	_ = s.root.StopFuture(actorlib.PID(k.PID)).Wait()
	synctest.Wait()
}

// published sends messages that were routed by a table.
func (s *store) published(by *topology.BindingTable, bodies ...string) {
	e := &mail.Enqueue{From: s.probe, Table: by.Number()}
	for _, b := range bodies {
		e.Messages = append(e.Messages, message.Message{Body: []byte(b), TTL: message.NoTTL, Owned: true})
	}
	s.send(e)
}

func (s *store) add(key string, q *topology.Queue) {
	s.send(&mail.AddBinding{
		Request: s.ask(), Binding: topology.Binding{Destination: q.Name, RoutingKey: key}, Target: topology.Target{Queue: q}, Exchange: "x", VHost: "/",
	})
}

func (s *store) answered() error {
	s.t.Helper()
	return take[*mail.TopologyReply](s.fixture).Err
}

// refusal returns the text of an error that closes a channel.
func refusal(err error) string {
	if e, is := err.(*protocol.ChannelError); is {
		return e.Text
	}
	return ""
}

func (k *sink) has(t *testing.T, want ...string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Equal(k.got, want) {
		t.Errorf("%s got %v, want %v", k.Name, k.got, want)
	}
}

// TestDEC17_ReplayToNewBindings: each new binding gets the history replayed, before any message routed by its table; an existing
// binding does not.
func TestDEC17_ReplayToNewBindings(t *testing.T) {
	inStore(t, 3, func(s *store) {
		a, b := s.queue("a"), s.queue("b")
		s.bind("", a.Queue)
		s.published(s.exchange.Routes(), "1", "2", "3", "4")
		s.bind("", b.Queue)
		s.bind("", b.Queue)      // exists already
		s.bind("again", b.Queue) // a new binding
		a.has(t)
		b.has(t, "2", "3", "4", "2", "3", "4")
		if r := s.exchange.Routes(); r.Len() != 3 {
			t.Error(r.Len())
		}
		s.stop(a)
		s.stop(b)
	})
}

// TestDEC17_OnceToEveryBinding: each queue gets a message once, by the publish or by a replay, for any table that
// routed it.
func TestDEC17_OnceToEveryBinding(t *testing.T) {
	inStore(t, 100, func(s *store) {
		var tables []*topology.BindingTable
		var queues []*sink
		want := map[string][]string{}
		for n := range 5 {
			tables = append(tables, s.exchange.Routes())
			q := s.queue(fmt.Sprint("q", n))
			queues = append(queues, q)
			s.bind("", q.Queue)
		}
		tables = append(tables, s.exchange.Routes())
		for i, by := range []int{5, 0, 3, 1, 5, 0, 4, 2} { // as a late commit would
			body := fmt.Sprint("m", i)
			s.published(tables[by], body)
			for n := by; n < 5; n++ {
				want[queues[n].Name] = append(want[queues[n].Name], body)
			}
		}
		for _, q := range queues {
			q.has(t, want[q.Name]...)
			s.stop(q)
		}
	})
}

// TestDEC17_OneReplayAtATime: the next binding waits until the queue has confirmed the previous replay, so a loop of binds holds
// no more than one history.
func TestDEC17_OneReplayAtATime(t *testing.T) {
	inStore(t, history.MaxLength, func(s *store) {
		for range history.MaxLength / 1000 {
			s.published(s.exchange.Routes(), make([]string, 1000)...)
		}
		q := s.queue("q")
		q.holds = true
		for n := range 50 {
			s.add(fmt.Sprint(n), q.Queue)
		}
		for n := range 50 {
			if len(q.got) != (n+1)*history.MaxLength || q.mails != (n+1)*(history.MaxLength+mail.DeadLetterBatch-1)/mail.DeadLetterBatch && n == 0 {
				t.Fatalf("%d messages in %d mails after %d answers", len(q.got), q.mails, n)
			}
			if got := len(s.mails); got != n+1 {
				t.Fatalf("%d binds answered", got)
			}
			q.answers()
		}
		s.stop(q)
	})
}

// TestDEC17_QueueEnds: commands that wait for a queue that ends continue, and a waiting binding to that queue is refused.
func TestDEC17_QueueEnds(t *testing.T) {
	inStore(t, 5, func(s *store) {
		s.published(s.exchange.Routes(), "1")
		a, b := s.queue("a"), s.queue("b")
		a.holds = true
		s.add("", a.Queue)
		s.add("2", a.Queue)
		s.add("", b.Queue)
		s.add("2", b.Queue)
		if s.answered() != nil || len(s.mails) != 0 {
			t.Error("no answer, or more than one")
		}
		s.send(&mail.RemoveBinding{Request: s.ask(), Binding: topology.Binding{Destination: "b", RoutingKey: "2"}})
		for range 2 { // the answers to the removal and to the removed bind
			if err := s.answered(); err != nil {
				t.Error(err)
			}
		}
		s.send(&mail.RetireExchange{Request: s.ask(), IfUnused: true})
		if take[*mail.RetireExchangeReply](s.fixture).Err == nil {
			t.Error("it is used")
		}
		s.send(&mail.ForgetDestination{Request: s.ask(), Name: "a"})
		if err := s.answered(); refusal(err) != "NOT_FOUND - no queue 'a' in vhost '/'" {
			t.Error(err)
		}
		take[*mail.ForgetDestinationReply](s.fixture)
		b.has(t)
		s.stop(a)
		if err := s.answered(); err != nil {
			t.Error(err)
		}
		b.has(t, "1")
		s.stop(b)
	})
}

// TestDEC17_MovedWhileItWaits: when a queue moves to another actor, its waiting replay goes there.
func TestDEC17_MovedWhileItWaits(t *testing.T) {
	inStore(t, 5, func(s *store) {
		s.published(s.exchange.Routes(), "1")
		a, old, now := s.queue("a"), s.queue("b"), s.queue("b")
		a.holds = true
		s.add("", a.Queue)
		s.add("", old.Queue)
		s.send(&mail.MoveDestination{Request: s.ask(), To: now.Queue})
		a.answers()
		old.has(t)
		now.has(t, "1")
		for _, q := range []*sink{a, old, now} {
			s.stop(q)
		}
		s.send(&mail.RetireExchange{Request: s.ask()})
		if s.room.Used() != 0 {
			t.Error("kept after the end", s.room.Used())
		}
	})
}

// TestDEC17_NoReplayInAnAlarm: during an alarm a binding with messages to replay is refused, any other one is not.
func TestDEC17_NoReplayInAnAlarm(t *testing.T) {
	inStore(t, 5, func(s *store) {
		q := s.queue("q")
		s.valve.SetShut(true)
		s.bind("empty", q.Queue)
		s.published(s.exchange.Routes(), "1", "2")
		s.bind("empty", q.Queue) // exists already
		s.add("other", q.Queue)
		const text = "PRECONDITION_FAILED - cannot bind to exchange 'x' in vhost '/' during a memory or disk alarm: the exchange would send the messages in its history"
		if err := s.answered(); refusal(err) != text {
			t.Error(err)
		}
		if s.exchange.Routes().Len() != 1 {
			t.Error("bound all the same")
		}
		s.valve.SetShut(false)
		s.bind("other", q.Queue)
		q.has(t, "1", "2")
		s.stop(q)
	})
}

// TestDEC17_ReplayWaitsForMemory like a publish, and commands that replay nothing do not wait.
func TestDEC17_ReplayWaitsForMemory(t *testing.T) {
	inStore(t, 5, func(s *store) {
		q := s.queue("q")
		s.published(s.exchange.Routes(), "1")
		s.budget.Add(101)
		s.valve.SetMax(100)
		s.add("", q.Queue)
		s.add("2", q.Queue)
		s.published(s.exchange.Routes(), "2")
		s.send(&mail.ConfigureExchange{Request: s.ask()})
		take[*mail.ConfigureExchangeReply](s.fixture)
		q.has(t)
		s.budget.Add(-50)
		s.valve.Relieve()
		synctest.Wait()
		q.has(t, "1", "2", "1", "2")
		s.budget.Add(50)
		s.add("3", q.Queue)
		s.valve.SetShut(true) // an alarm ends the wait
		synctest.Wait()
		for _, refused := range []bool{false, false, true} {
			if err := s.answered(); (err != nil) != refused {
				t.Error(err)
			}
		}
		s.valve.SetShut(false)
		s.add("3", q.Queue)
		s.send(&mail.RetireExchange{Request: s.ask()}) // no replay waits any longer
		for ended := false; !ended; {
			m := <-s.mails // Terminated may come first
			r, is := m.(*mail.TopologyReply)
			if ended = is; is && refusal(r.Err) != "NOT_FOUND - no exchange 'x' in vhost '/'" {
				t.Error(r.Err)
			}
		}
		s.stop(q)
	})
}

// TestDL33_ReplayWaits: while copies are rationed, a replay waits for permission, and an alarm refuses it.
func TestDL33_ReplayWaits(t *testing.T) {
	inStore(t, 5, func(s *store) {
		q := s.queue("q")
		s.published(s.exchange.Routes(), "1", "2")
		s.budget.Count(1)
		for s.copies.SetMax(1); s.copies.Ask(1); { // the ration is used up
			s.budget.Count(1)
		}
		s.add("", q.Queue)
		q.has(t)
		time.Sleep(time.Second)
		synctest.Wait()
		q.has(t, "1", "2") // a few are permitted in any case
		for s.copies.Ask(1) {
			s.budget.Count(1)
		}
		s.add("again", q.Queue)
		s.valve.SetShut(true)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		q.has(t, "1", "2")
		for _, refused := range []bool{false, true} {
			if err := s.answered(); (err != nil) != refused {
				t.Error(err)
			}
		}
		s.stop(q)
	})
}

// TestDEC17_ReplayToAnExchange is routed by the dead-letter actor, and the next replay waits for its answer.
func TestDEC17_ReplayToAnExchange(t *testing.T) {
	inStore(t, 1000, func(s *store) {
		early := s.exchange.Routes()
		s.published(early, make([]string, 700)...)
		var got []*mail.DeadLetter
		s.vhost.DeadLetter = s.root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if m, is := ctx.Message().(*mail.DeadLetter); is {
				got = append(got, m)
			}
		}))
		y := &topology.Exchange{Name: "y"}
		for _, key := range []string{"a", "b"} {
			s.send(&mail.AddBinding{
				Request: s.ask(), Binding: topology.Binding{Destination: "y", ToExchange: true, RoutingKey: key}, Target: topology.Target{Exchange: y}, Exchange: "x", VHost: "/",
			})
		}
		if len(got) != 2 || len(got[0].Messages) != mail.DeadLetterBatch || got[0].Exchange != "y" || !got[0].Replay {
			t.Fatalf("%d mails", len(got))
		}
		answer := func(m *mail.DeadLetter, from, to uint64) {
			s.send(&mail.DeadLetterReply{Incarnation: m.Incarnation, IDs: []mail.Range{{First: from, Last: to}}})
		}
		answer(got[0], 1, 512)
		answer(got[1], 1, 187)
		if len(got) != 2 || len(s.mails) != 1 {
			t.Error("not waited")
		}
		answer(got[1], 188, 188)
		if len(got) != 4 || len(s.mails) != 2 {
			t.Fatal(len(got))
		}
		s.send(&mail.DeadLetterReply{Incarnation: got[3].Incarnation, Lost: true})
		q := s.queue("q")
		s.add("", q.Queue)
		if len(q.got) != 700 {
			t.Error(len(q.got))
		}
		s.published(early, "late")
		for n := 4; n < 6; n++ { // one at a time
			if len(got) != n+1 || string(got[n].Messages[0].Body) != "late" || len(q.got) != 701 {
				t.Fatal(len(got), len(q.got))
			}
			answer(got[n], 1, 1)
		}
		if len(got) != 6 || len(q.got) != 701 {
			t.Error(len(got), len(q.got))
		}
		s.stop(q)
		_ = s.root.StopFuture(actorlib.PID(s.vhost.DeadLetter)).Wait()
	})
}

// TestDEC17_AnswersAndTime: publishes that need a confirm get it, and replayed messages have their remaining TTL.
func TestDEC17_AnswersAndTime(t *testing.T) {
	inStore(t, 5, func(s *store) {
		s.send(&mail.Enqueue{From: s.probe, Table: s.exchange.Routes().Number(), Messages: []message.Message{
			{TTL: 1000, Number: 1}, {TTL: 50, Number: 2}, {TTL: 0, Number: 3},
		}})
		if r := take[*mail.EnqueueReply](s.fixture); r.Refused || len(r.Ranges) != 1 || r.Ranges[0] != (mail.Range{First: 1, Last: 3}) {
			t.Errorf("%+v", r)
		}
		time.Sleep(100 * time.Millisecond)
		q := s.queue("q")
		s.bind("", q.Queue)
		if len(q.ttl) != 1 || q.ttl[0] != 900 {
			t.Error(q.ttl)
		}
		s.stop(q)
	})
}

// TestDEC17_LateMessagesHoldCredit: messages routed by an old table go to one newer binding at a time, and hold their publisher's
// credit until all have them; no new binding overtakes them.
func TestDEC17_LateMessagesHoldCredit(t *testing.T) {
	inStore(t, 5, func(s *store) {
		early := s.exchange.Routes().Number()
		var queues []*sink
		for n := range 20 {
			q := s.queue(fmt.Sprint("q", n))
			q.holds = true
			queues = append(queues, q)
			s.bind("", q.Queue)
		}
		var gate message.Gate
		e := &mail.Enqueue{From: s.probe, Table: early, Messages: []message.Message{{Body: []byte("m"), TTL: message.NoTTL, Owned: true}}}
		e.Debt.Add(&gate, 3)
		s.send(e)
		after := s.queue("after")
		s.add("", after.Queue)
		for range queues {
			waits := slices.DeleteFunc(slices.Clone(queues), func(q *sink) bool { return len(q.owes) == 0 })
			if len(waits) != 1 || gate.Used() == 0 || len(after.got) != 0 {
				t.Fatalf("%d at once, %d bytes held", len(waits), gate.Used())
			}
			waits[0].answers()
		}
		if gate.Used() != 0 {
			t.Error("still held", gate.Used())
		}
		after.has(t, "m")
		for _, q := range append(queues, after) {
			if q != after {
				q.has(t, "m")
			}
			s.stop(q)
		}
	})
}
