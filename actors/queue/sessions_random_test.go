package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// sessionModel is a simple model of sessions: their holders, and the order of their messages.
type sessionModel struct {
	*core
	cfg     Config
	rng     *rand.Rand
	ids     []string
	holder  map[string]string         // tag by session
	session map[string]string         // session by tag
	ready   map[string][]int          // by session
	held    map[string]map[uint64]int // by tag and delivery number
	expires map[int]int64             // ms
	gone    map[int]bool
	tags    int
}

// TestSessionsRandom_SESSION2: with random receivers, which may leave or time out, requeues, acks, expiries and restarts, each
// receiver gets the messages of its own session in order, none is lost, and none is delivered after its deadline.
func TestSessionsRandom_SESSION2(t *testing.T) {
	seeded(t, 20, func(t *testing.T, seed uint64) {
		m := &sessionModel{
			rng: rand.New(rand.NewPCG(seed, 0)), cfg: sessionConfig(func(s *policies.QueueSettings) { s.DeliveryLimit = -1 }), ids: []string{"a", "b", "c", "d"},
			ready: map[string][]int{}, expires: map[int]int64{}, gone: map[int]bool{},
		}
		m.core = newCoreOf(t, m.cfg)
		m.turnLimit = uint16(1 + m.rng.IntN(20))
		m.forget()
		for i := range 600 {
			m.step(i)
			m.follow()
		}
		m.finish()
	})
}

func (m *sessionModel) forget() {
	m.holder, m.session, m.held = map[string]string{}, map[string]string{}, map[string]map[uint64]int{}
}

func (m *sessionModel) step(i int) {
	switch n := m.rng.IntN(100); {
	case n < 50:
		id := m.ids[m.rng.IntN(len(m.ids))]
		x := ofSession(id, fmt.Sprint(i))
		if m.expires[i] = 1 << 60; m.rng.IntN(4) == 0 {
			x.TTL = m.rng.Int64N(300) + 1
			m.expires[i] = m.ms() + x.TTL
		}
		m.ready[id] = append(m.ready[id], i)
		m.publish(x)
	case n < 60:
		m.tags++
		id := "*"
		if m.rng.IntN(2) == 0 {
			id = m.ids[m.rng.IntN(len(m.ids))]
		}
		m.applies(ch1, fmt.Sprint("t", m.tags), id, m.rng.Int64N(300))
	case n < 80:
		m.settleOne()
	case n < 85:
		for tag := range m.session {
			m.cancel(ch1, tag)
			numbers := m.held[tag]
			m.leave(tag)
			for number := range numbers { // like the link
				m.settle(ch1, mail.Requeue, number, number)
			}
			break
		}
	case n < 86:
		m.cfg.Recovered, m.cfg.Newest = m.disk.survivors(), m.Seq
		next := newCoreOf(m.t, m.cfg)
		next.disk, next.now, next.number, next.turnLimit = m.disk, m.now, m.number, m.turnLimit
		for tag := range m.session {
			m.leave(tag)
		}
		m.core = next
		m.feed(again{})
		m.forget()
	default:
		m.at(m.ms() + m.rng.Int64N(120))
	}
}

// settleOne acks or requeues a delivery.
func (m *sessionModel) settleOne() {
	for tag, numbers := range m.held {
		for number, i := range numbers {
			delete(numbers, number)
			if m.rng.IntN(2) == 0 {
				m.gone[i] = true
				m.settle(ch1, mail.Ack, number, number)
				return
			}
			m.back(m.session[tag], i)
			m.settle(ch1, mail.Requeue, number, number)
			return
		}
	}
}

func (m *sessionModel) back(id string, i int) {
	m.ready[id] = append(m.ready[id], i)
	slices.Sort(m.ready[id])
}

// leave removes a receiver and returns its deliveries.
func (m *sessionModel) leave(tag string) {
	for _, i := range m.held[tag] {
		m.back(m.session[tag], i)
	}
	delete(m.holder, m.session[tag])
	delete(m.session, tag)
	delete(m.held, tag)
}

func (m *sessionModel) replied(r *mail.ConsumeReply) {
	if r == nil || r.Err != nil {
		return
	}
	id := r.Session.ID
	if other, taken := m.holder[id]; taken {
		m.t.Fatalf("session %s is given to %s, and %s has it", id, r.Tag, other)
	}
	m.holder[id], m.session[r.Tag], m.held[r.Tag] = r.Tag, id, map[uint64]int{}
}

// follow applies the queue's mail to the model, in order.
func (m *sessionModel) follow() {
	for _, p := range m.posts {
		switch x := p.Mail.(type) {
		case *mail.ConsumerCancelled:
			if !x.Lost {
				m.t.Fatalf("%+v", x)
			}
			m.leave(x.Tag)
		case *mail.ConsumeReply:
			m.replied(x)
		case *mail.Deliver:
			m.given(x)
		}
	}
	m.posts = nil
}

func (m *sessionModel) given(d *mail.Deliver) {
	id := m.session[d.Tag]
	for _, x := range d.Items {
		i, _ := strconv.Atoi(string(x.Message.Body))
		at := slices.Index(m.ready[id], i)
		if at < 0 || m.expires[i] <= m.ms()-120 {
			m.t.Fatalf("%d is given to %s of session %q, ready are %v", i, d.Tag, id, m.ready[id])
		}
		for _, before := range m.ready[id][:at] {
			if m.expires[before] > m.ms() {
				m.t.Fatalf("%d before %d in session %s", i, before, id)
			}
		}
		m.ready[id] = slices.DeleteFunc(m.ready[id], func(x int) bool { return x == i })
		m.held[d.Tag][x.Number] = i
	}
}

// finish lets all locks end, and receives the remaining messages: all that have not expired, in order.
func (m *sessionModel) finish() {
	m.now = max(m.now, clock.Instant(0))
	for range 20 { // in steps below the tolerance of given
		m.at(m.ms() + 100)
		m.follow()
	}
	for _, id := range m.ids {
		var want []string
		for _, i := range m.ready[id] {
			if m.expires[i] > m.ms() {
				want = append(want, fmt.Sprint(i))
			}
		}
		m.granted(ch1, "last"+id, id)
		var got []string
		for _, body := range m.delivered("last" + id) {
			got = append(got, strings.TrimSuffix(body, "*"))
		}
		m.want("session "+id, got, want...)
	}
}
