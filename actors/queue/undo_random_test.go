package queue

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// lived is a message of the model: its deadline follows from when and how it entered the queue, and from the settings.
type lived struct {
	enqueued, own, entered int64 // ms since the start, -1 for none
}

// by returns the deadline under settings, in ms since the start, -1 for none.
func (m *lived) by(s *policies.QueueSettings) int64 {
	if !s.RetroactiveTTL {
		return m.entered
	}
	return after(m.enqueued, lower(m.own, s.MessageTTL))
}

func lower(a, b int64) int64 {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

func after(ms, ttl int64) int64 {
	if ttl < 0 {
		return -1
	}
	return ms + ttl
}

// story is a random sequence of commands, for a queue that runs without a break and for one that restarts before each
// command.
type story struct {
	t       *testing.T
	r       *rand.Rand
	live    *core
	again   *core
	now     policies.QueueSettings
	before  []policies.QueueSettings // for undoing, the latest last
	there   [2]map[string]*lived     // messages that have not expired, of each queue: with strict expiry they may differ
	held    map[string]bool          // expired ones of the first queue that wait for memory to become dead letters
	waiting map[string]*lived        // scheduled ones; enqueued is when they are due
	count   int
	said    []string
}

// tell records a command, for the report of a failure.
func (s *story) tell(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf("%d ms: ", s.live.ms())+fmt.Sprintf(format, args...))
}

func (s *story) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(s.said[max(len(s.said)-40, 0):], "\n"))
}

// restart restarts the second queue.
func (s *story) restart() {
	cfg := testConfig(s.now)
	cfg.Queue.Durable, cfg.Recovered, cfg.Newest = true, s.again.disk.survivors(), s.again.Seq
	next := &core{t: s.t, now: s.again.now, disk: s.again.disk, pressed: s.again.pressed, number: s.again.number}
	next.init(&cfg, queuePID, next.now)
	next.feed(again{})
	s.again = next
}

// both does the same with both queues.
func (s *story) both(f func(c *core)) {
	f(s.live)
	f(s.again)
}

// settings changes the settings, or takes a change back.
func (s *story) settings() {
	next := s.now
	if n := len(s.before); n > 0 && s.r.IntN(3) == 0 {
		next, s.before = s.before[n-1], s.before[:n-1]
	} else {
		s.before = append(s.before, s.now)
		switch s.r.IntN(4) {
		case 0:
			next.MessageTTL = -1
		case 1:
			next.RetroactiveTTL = !next.RetroactiveTTL
		default:
			next.MessageTTL, next.RetroactiveTTL = []int64{20, 60, 150, 400, 2000}[s.r.IntN(5)], s.r.IntN(3) > 0
		}
	}
	s.now = next
	s.tell("TTL %d, retroactive %v", next.MessageTTL, next.RetroactiveTTL)
	s.both(func(c *core) { c.feed(&mail.Configure{Settings: next}) })
}

// enter adds a message that has entered the queue.
func (s *story) enter(body string, m *lived) {
	m.entered = after(m.enqueued, lower(m.own, s.now.MessageTTL))
	for i := range s.there {
		s.there[i][body] = m
	}
}

func (s *story) publish() {
	s.count++
	body, m := fmt.Sprint(s.count), lived{enqueued: s.live.ms(), own: []int64{-1, -1, 1 + s.r.Int64N(300), 5000}[s.r.IntN(4)]}
	p := persistentMsg(body, m.own)
	p.Priority = uint8(s.r.IntN(3))
	headers, due := protocol.Table{}, int64(0)
	switch s.r.IntN(4) {
	case 0:
		due = m.enqueued + 1 + s.r.Int64N(100)
		headers = append(headers, protocol.Field{Key: "x-delay", Value: due - m.enqueued})
	case 1:
		due = m.enqueued + 1 + s.r.Int64N(100)
		headers = append(headers, protocol.Field{Key: "x-deliver-at", Value: start + due})
	}
	if s.r.IntN(6) == 0 {
		at := m.enqueued + 100 + s.r.Int64N(300)
		headers = append(headers, protocol.Field{Key: "until", Value: start + at})
		m.own = lower(m.own, at-max(due, m.enqueued))
	}
	p.Header = protocol.Properties{Flags: protocol.FlagHeaders, Headers: headers}.Append(nil)
	setPersistent(&p, true)
	s.tell("publish %s, own TTL %d, %v", body, p.TTL, headers)
	if due > 0 {
		m.enqueued = due
		s.waiting[body] = &m
	} else {
		s.enter(body, &m)
	}
	s.both(func(c *core) { c.publish(p) })
}

// take takes a message and gives it back, possibly with a change of its content or deferred.
func (s *story) take() {
	outcome := mail.SettleRange{How: mail.Requeue}
	switch s.r.IntN(4) {
	case 0:
		outcome.How = mail.Defer
	case 1:
		outcome.Outcome = &mail.Outcome{Properties: table("said", fmt.Sprint(s.count))}
	case 2:
		outcome.Outcome = &mail.Outcome{Until: start + s.live.ms() + s.r.Int64N(50)}
	}
	s.tell("take one, %+v %+v", outcome.How, outcome.Outcome)
	s.both(func(c *core) {
		g := c.get(ch1)
		if g.Empty {
			return
		}
		one := outcome
		one.First, one.Last = g.Delivery.Number, g.Delivery.Number
		c.feed(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{one}})
	})
}

// advance lets time pass. Scheduled messages are released on time, with the TTL of the queue at that time.
func (s *story) advance() {
	to := s.live.ms() + s.r.Int64N(60)
	s.tell("until %d ms", to)
	for body, m := range s.waiting {
		if m.enqueued <= to {
			s.enter(body, m)
			delete(s.waiting, body)
		}
	}
	s.both(func(c *core) { c.at(to) })
}

// check compares a queue with the model.
func (s *story) check(name string, c *core, there map[string]*lived) {
	now, gone := s.live.ms(), map[string]bool{}
	for _, d := range c.seenOff() {
		body, ok := strings.CutPrefix(d, "expired ")
		if m := there[body]; m == nil && s.held[body] {
			continue
		}
		m := there[body]
		if !ok || m == nil || m.by(&s.now) < 0 || m.by(&s.now) > now {
			s.fail("%s: %s, and its deadline is %+v", name, d, m)
		}
		gone[body] = true
	}
	left := map[string]int64{}
	c.Backlog.Sweep(1, 1<<30, func(h backlog.Handle) {
		if c.Backlog.Entry(h).Marks&backlog.Ended != 0 {
			if m := there[c.body(h)]; m != nil && m.by(&s.now) >= 0 && m.by(&s.now) <= now {
				gone[c.body(h)], s.held[c.body(h)] = true, true
			}
			return
		}
		if left[c.body(h)] = c.Backlog.Deadline(h) - start; c.Backlog.Deadline(h) == store.Never {
			left[c.body(h)] = -1
		}
	})
	for body, m := range there {
		want := m.by(&s.now)
		at, is := left[body]
		switch due := want >= 0 && want <= now; {
		case is && (at != want || due && !s.now.StrictExpiry):
			s.fail("%s: %s is there, with a deadline of %d, not %d", name, body, at, want)
		case is == gone[body]:
			s.fail("%s: %s is there: %v, its deadline is %d", name, body, is, want)
		}
	}
	if len(left)+len(gone) != len(there) {
		s.fail("%s: %d messages are there and %d have expired, of %d", name, len(left), len(gone), len(there))
	}
	maps.DeleteFunc(there, func(body string, _ *lived) bool { return gone[body] })
}

// TestDeadlinesFollowSettings_TTL25: after random publishes, changes of policies, undone changes and passing time, a queue has the
// messages and deadlines that follow from the present settings, and so has a queue that restarts before every step. None expires
// before its deadline under the settings in force.
func TestDeadlinesFollowSettings_TTL25(t *testing.T) {
	seeded(t, 20, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := &story{t: t, r: r, there: [2]map[string]*lived{{}, {}}, held: map[string]bool{}, waiting: map[string]*lived{}}
		s.now = settings(dlx, func(q *policies.QueueSettings) {
			q.DelayedMessages, q.ExpiresAtHeader, q.MaxPriority = true, "until", uint8(r.IntN(3))
			q.StrictExpiry = r.IntN(4) == 0
		})
		cfg := testConfig(s.now)
		cfg.Queue.Durable = true
		s.live, s.again = newCoreOf(t, cfg), newCoreOf(t, cfg)
		tight := rand.New(rand.NewPCG(seed, 1))
		s.live.pressed = func() bool { return tight.IntN(3) == 0 }
		for range 400 {
			s.restart()
			s.check("restarted", s.again, s.there[1])
			switch r.IntN(8) {
			case 0, 1:
				s.settings()
			case 2, 3, 4:
				s.publish()
			case 5:
				s.take()
			default:
				s.advance()
			}
			s.check("without restarts", s.live, s.there[0])
			s.check("with restarts", s.again, s.there[1])
		}
	})
}
