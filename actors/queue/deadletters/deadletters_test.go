package deadletters

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/paging"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// start is the broker's start time in these tests, in wall ms.
const start = 1_800_000_000_000

func at(ms int64) clock.Instant { return clock.Instant((start + ms) * int64(time.Millisecond)) }

// fixture is a queue whose messages are named by their numbers.
type fixture struct {
	*DeadLetters
	settings policies.QueueSettings
	messages backlog.Backlog
	pager    paging.Pager
	memory   paging.Memory
	out      mail.Posts
	did      []string // calls of the owner's methods
	seq      uint64
}

func newFixture(change ...func(*policies.QueueSettings)) *fixture {
	f := &fixture{settings: policies.SettingsFor(nil, policies.Effective{}), pager: paging.New()}
	f.settings.HasDLX, f.settings.DeadLetterExchange = true, "dlx"
	for _, c := range change {
		c(&f.settings)
	}
	v := topology.NewVHost("/")
	v.DeadLetter = address.Named("dead letters")
	f.DeadLetters = New(Parts{
		Owner: f, Queue: &topology.Queue{Name: "q", Incarnation: 7, Durable: true}, VHost: v, Settings: &f.settings,
		Messages: &f.messages, Deadline: f.messages.Deadline, Pager: &f.pager, Out: &f.out, Memory: func() paging.Memory { return f.memory },
	})
	return f
}

func (f *fixture) note(what string, h backlog.Handle) {
	f.did = append(f.did, fmt.Sprint(what, " ", f.messages.Seq(h)))
}

func (f *fixture) End(h backlog.Handle, why store.Reason) {
	f.note("end", h)
	f.Add(h, why)
}

func (f *fixture) Drop(h backlog.Handle, _ store.Reason) {
	f.note("drop", h)
	f.messages.Remove(h)
}

func (f *fixture) Remove(h backlog.Handle, _ store.Reason) {
	f.note("remove", h)
	f.messages.Remove(h)
}

func (f *fixture) MakeReady(h backlog.Handle) {
	f.note("return", h)
	f.messages.Return(h)
}

// push makes a taken message with a deadline in ms after the start.
func (f *fixture) push(deadline int64) backlog.Handle {
	f.seq++
	h := f.messages.Push(&backlog.Record{Header: []byte{0, 0}, Body: []byte("body"), Deadline: start + deadline, Seq: f.seq})
	f.messages.Take(h)
	return h
}

// sent takes the mail sent: the reason and the ids of each.
func (f *fixture) sent() (list []string) {
	for _, p := range f.out {
		m := p.Mail.(*mail.DeadLetter)
		line := m.Reason
		for i := range m.Messages {
			line += fmt.Sprint(" ", m.Messages[i].Number)
		}
		list = append(list, line)
	}
	f.out.Clear()
	return list
}

func (f *fixture) want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (f *fixture) keep(ids ...uint64) *mail.DeadLetterReply {
	r := &mail.DeadLetterReply{Incarnation: 7}
	for _, id := range ids {
		r.Retained = append(r.Retained, mail.Retained{ID: id})
	}
	return r
}

// TestRuns_DL31: each run of messages with one reason is one mail; they stay until they are answered, and an answer to an earlier
// incarnation is ignored.
func TestRuns_DL31(t *testing.T) {
	f := newFixture()
	f.Add(f.push(0), store.Expired)
	f.Add(f.push(0), store.Expired)
	f.Add(f.push(0), store.Rejected)
	f.Flush(at(0), clock.Dates{}, 1)
	f.want(t, "sent", f.sent(), "expired 1 2", "rejected 3")
	f.Answered(&mail.DeadLetterReply{Incarnation: 6, IDs: []mail.Range{{First: 1, Last: 3}}}, at(0))
	if c := f.Counts(); c.Len != 3 || c.UnderWay != 3 || c.Bytes != 12 {
		t.Errorf("%+v", c)
	}
	f.Answered(&mail.DeadLetterReply{Incarnation: 7, IDs: []mail.Range{{First: 1, Last: 3}}}, at(0))
	f.want(t, "done", f.did, "remove 1", "remove 2", "remove 3")
	if f.Counts() != (Counts{}) {
		t.Errorf("%+v", f.Counts())
	}
}

// TestLimit_PRO12: at most Limit messages are with the dead-letter actor; without an exchange the rest is dropped.
func TestLimit_PRO12(t *testing.T) {
	f := newFixture()
	for range Limit + 2 {
		f.Add(f.push(0), store.Expired)
	}
	if f.Flush(at(0), clock.Dates{}, 1) || f.Counts().UnderWay != Limit {
		t.Errorf("%+v", f.Counts())
	}
	f.settings.HasDLX = false
	f.Flush(at(0), clock.Dates{}, 1)
	f.want(t, "done", f.did, fmt.Sprint("drop ", Limit+1), fmt.Sprint("drop ", Limit+2))
}

// TestRounds_DL29: the delay doubles with each round in which nothing is taken; it starts again when something is.
func TestRounds_DL29(t *testing.T) {
	f := newFixture()
	f.Add(f.push(0), store.Expired)
	f.Add(f.push(0), store.Expired)
	f.Flush(at(0), clock.Dates{}, 1)
	now := int64(0)
	for i, wait := range []int64{1000, 2000, 4000, 8000, 16_000, MaxRetryDelay, MaxRetryDelay} {
		f.sent()
		f.Answered(f.keep(1, 2), at(now))
		next, ok := f.Next()
		if next -= start; !ok || next-now != wait {
			t.Fatalf("round %d after %d ms, want %d", i, next-now, wait)
		}
		f.Retry(at(next-1), clock.Dates{})
		f.want(t, "early", f.sent())
		now = next
		f.Retry(at(now), clock.Dates{})
		f.want(t, "sent", f.sent(), "expired 1 2")
	}
	r := f.keep(2)
	r.IDs = []mail.Range{{First: 1, Last: 1}}
	f.Answered(r, at(now))
	if next, ok := f.Next(); !ok || next != start+now {
		t.Errorf("the next round is %d ms away", next-start-now)
	}
}

// TestLost: messages that the dead-letter actor lost are sent again, in order; an older loss is ignored.
func TestLost(t *testing.T) {
	f := newFixture()
	f.Add(f.push(0), store.Expired)
	f.Add(f.push(0), store.Expired)
	f.Flush(at(0), clock.Dates{}, 1)
	f.sent()
	f.Answered(f.keep(2), at(0))
	for _, want := range [][]string{{"expired 1 2"}, nil} {
		f.Answered(&mail.DeadLetterReply{Incarnation: 7, Lost: true}, at(0))
		f.Flush(at(0), clock.Dates{}, 1)
		f.want(t, "sent", f.sent(), want...)
	}
	if _, ok := f.Next(); ok {
		t.Error("a round is left")
	}
}

// TestForward: a forwarded message returns when forwarding is off, and expires at its deadline.
func TestForward(t *testing.T) {
	f := newFixture(func(s *policies.QueueSettings) { s.HasForward, s.ForwardTo = true, "x" })
	f.Forward(f.push(50), false)
	f.Forward(f.push(0), false)
	f.Forward(f.push(0), true)
	f.Flush(at(0), clock.Dates{}, 1)
	f.want(t, "sent", f.sent(), "forwarded 1 3", "expired 4")
	f.want(t, "done", f.did, "end 2")
	f.settings.HasForward, f.did = false, nil
	f.Answered(f.keep(1), at(0))
	f.RetryNow(at(0))
	f.Retry(at(0), clock.Dates{})
	f.want(t, "done", f.did, "return 1")
	if c := f.Counts(); c.Forwarding != 1 || c.ForwardingBytes != 4 || c.Len != 2 {
		t.Errorf("%+v", c)
	}
	for range ForwardLimit {
		f.Forward(f.push(1000), false)
	}
	if f.CanForward() {
		t.Error("there is room")
	}
}

// TestDatesAreByTheWall_TTL35: x-death has the time of the wall clock, even if that was set while the broker ran.
func TestDatesAreByTheWall_TTL35(t *testing.T) {
	f := newFixture()
	f.Add(f.push(0), store.Expired)
	f.Flush(at(999), clock.Ahead(-3_600_000), 1)
	if m := f.out[0].Mail.(*mail.DeadLetter); m.Time != start/1000-3600 {
		t.Errorf("date %d", m.Time)
	}
}

// TestNoneAtAll: a queue without dead letters has no DeadLetters.
func TestNoneAtAll(t *testing.T) {
	var l *DeadLetters
	l.Answered(&mail.DeadLetterReply{}, 0)
	l.Retry(0, clock.Dates{})
	l.RetryNow(0)
	l.Each(nil)
	n, _ := l.Retained()
	if _, ok := l.Next(); ok || n != 0 || l.Counts() != (Counts{}) || !l.CanForward() || l.Flush(0, clock.Dates{}, 1) {
		t.Error("there is something")
	}
}
