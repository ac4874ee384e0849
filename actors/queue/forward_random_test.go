package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

// mover plays the dead-letter actor and a consumer for a queue whose forward-to is set and removed repeatedly, and records the
// outcome of each message.
type mover struct {
	*core
	rng     *rand.Rand
	n       int
	due     map[string]int64 // ms after the start, by body; -1 for never
	fate    map[string]string
	pending []sent
	held    []string // deliveries of the consumer, in order of their numbers
	first   uint64   // number of the last settled delivery
	looked  int64    // time of the last collect, ms after the start
	*times           // nil without scheduled messages and restarts
}

// sent is a message that was sent and not answered.
type sent struct {
	id         uint64
	body, fate string
	round      uint64
}

// collect takes the mail sent by the queue.
func (m *mover) collect() {
	for _, l := range all[*mail.DeadLetter](m.core) {
		for _, d := range l.Messages {
			body := string(d.Body)
			if due := m.due[body]; l.Forward && due >= 0 && m.times == nil && (d.TTL < max(due-m.ms(), 0) || d.TTL > max(due-m.looked, 0)) {
				m.t.Fatalf("%s, due at %d, is moved on from %d to %d with a TTL of %d", body, due, m.looked, m.ms(), d.TTL)
			}
			m.pending = append(m.pending, sent{d.Number, body, l.Reason, l.Epoch})
		}
	}
	m.held = append(m.held, m.delivered("a")...)
	m.looked = m.ms()
	if m.times != nil {
		m.punctual()
	}
}

func (m *mover) ends(body, fate string) {
	m.t.Helper()
	if m.fate[body] != "" {
		m.t.Fatalf("%s was %s, now it is %s", body, m.fate[body], fate)
	}
	m.fate[body] = fate
	if m.times != nil && m.disk.err != nil {
		m.unwritten[body] = true
	}
}

// answer answers n messages, or all if there are fewer; with keep above 0, each forwarded one is retained with a chance of 1 in
// keep.
func (m *mover) answer(n, keep int) {
	r := &mail.DeadLetterReply{Incarnation: 7}
	for range min(n, len(m.pending)) {
		i := m.rng.IntN(len(m.pending))
		s := m.pending[i]
		m.pending = append(m.pending[:i], m.pending[i+1:]...)
		if s.fate == "forwarded" && keep > 0 && m.rng.IntN(keep) == 0 {
			r.Retained = append(r.Retained, mail.Retained{ID: s.id})
			continue
		}
		m.ends(s.body, s.fate)
		r.Add(s.id)
	}
	m.feed(r)
}

func (m *mover) step() {
	switch m.rng.IntN(10) {
	case 0, 1, 2:
		var batch []message.Message
		for range 1 + m.rng.IntN(4) {
			body, ttl := fmt.Sprint("m", m.n), []int64{-1, 0, 5, 50, 2000}[m.rng.IntN(5)]
			m.n++
			if m.due[body] = -1; ttl >= 0 {
				m.due[body] = m.ms() + ttl
			}
			batch = append(batch, msg(body, ttl))
		}
		m.publish(batch...)
	case 3, 4:
		m.answer(1+m.rng.IntN(6), 3)
	case 5:
		m.pending = nil // the dead-letter actor has lost all
		m.feed(&mail.DeadLetterReply{Incarnation: 7, Lost: true, Epoch: m.DeadLetters.Counts().Epoch})
	case 6:
		s := settings(dlx)
		if m.rng.IntN(2) == 0 {
			s = settings(dlx, forwardTo)
		}
		m.feed(&mail.Configure{Settings: s})
	case 7, 8:
		m.at(m.ms() + int64(m.rng.IntN(400)))
	case 9:
		m.settleOne([]mail.Settlement{mail.Ack, mail.Requeue}[m.rng.IntN(2)])
	}
	m.collect()
}

// settleOne has the consumer settle its first delivery.
func (m *mover) settleOne(how mail.Settlement) {
	if len(m.held) == 0 {
		return
	}
	body := m.held[0]
	if body[len(body)-1] == '*' {
		body = body[:len(body)-1]
	}
	if how == mail.Ack {
		m.ends(body, "acked")
	}
	m.held = m.held[1:]
	m.first++
	m.settle(ch1, how, m.first, m.first)
}

// TestForwardRandom: each message is forwarded, consumed or dead-lettered exactly once.
func TestForwardRandom(t *testing.T) {
	for seed := range uint64(300) {
		m := &mover{
			core: newCore(t, dlx, func(s *policies.QueueSettings) { s.HasForward, s.ForwardTo = seed%2 == 0, "to" }),
			rng:  rand.New(rand.NewPCG(seed, 1)), due: map[string]int64{}, fate: map[string]string{},
		}
		m.consume(ch1, "a", 3)
		for range 200 {
			m.step()
		}
		m.feed(&mail.Configure{Settings: settings(dlx, forwardTo)})
		for m.collect(); len(m.pending)+len(m.held) > 0 || m.Backlog.Len() > 0; m.collect() {
			m.answer(len(m.pending), 0)
			m.settleOne(mail.Ack)
			m.at(m.ms() + 1000)
		}
		if len(m.fate) != m.n || m.DeadLetters.Counts().Forwarding != 0 || m.DeadLetters.Counts().ForwardingBytes != 0 || m.DeadLetters.Counts().Bytes != 0 {
			t.Fatalf("seed %d: %d of %d accounted for, %d moving", seed, len(m.fate), m.n, m.DeadLetters.Counts().Forwarding)
		}
	}
}
