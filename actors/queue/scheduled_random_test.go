package queue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

// times holds the times of a mover's messages, and the possible effects of a restart on them.
type times struct {
	release, own map[string]int64 // earliest time of delivery in ms after the start; own TTL
	kept         map[string]bool  // must survive: persistent and not refused
	unwritten    map[string]bool  // ended while the journal was failing
	numbers      map[uint64]string
	overdue      string
	settled      []func(*policies.QueueSettings) // the queue's current settings
	inDoubt      int                             // number of messages that ended and returned
}

// shortest is the lowest TTL that the queue gets.
const shortest = 40

// punctual checks that no message is early.
func (m *mover) punctual() {
	for _, p := range m.pending {
		m.notBefore(p.body, p.fate)
	}
	for _, body := range m.held {
		m.notBefore(strings.TrimSuffix(body, "*"), "delivered")
	}
	acks, nacks := m.confirmed()
	for _, n := range append(acks, nacks...) {
		if m.numbers[n] == "" {
			m.t.Fatalf("%d is answered twice", n)
		}
	}
	for _, n := range nacks {
		m.kept[m.numbers[n]] = false
		if !m.living()[m.numbers[n]] && m.fate[m.numbers[n]] == "" && !m.isPending(m.numbers[n]) {
			m.ends(m.numbers[n], "refused")
		}
	}
	for _, n := range append(acks, nacks...) {
		delete(m.numbers, n)
	}
}

func (m *mover) notBefore(body, what string) {
	m.t.Helper()
	earliest := m.release[body]
	if ttl := m.own[body]; what == "expired" && m.overdue != policies.OverdueDeadLetter {
		if earliest += shortest; ttl >= 0 && ttl < shortest {
			earliest += ttl - shortest
		}
	}
	if m.ms() < earliest {
		m.t.Fatalf("%s is %s at %d, before %d", body, what, m.ms(), earliest)
	}
}

func (m *mover) isPending(body string) bool {
	for _, p := range m.pending {
		if p.body == body {
			return true
		}
	}
	return false
}

// living returns the bodies of all messages in the queue.
func (m *mover) living() map[string]bool {
	bodies := map[string]bool{}
	b := &m.Backlog
	note := func(h uint32) {
		if b.IsPaged(h) {
			bodies[string(m.disk.puts[b.Seq(h)].Body)] = true
		} else {
			var r backlog.Record
			b.Get(h, &r)
			bodies[string(r.Body)] = true
		}
	}
	b.Sweep(1, 1<<30, note)
	if m.Scheduled != nil {
		b = &m.Scheduled.Messages.Backlog
		b.Sweep(1, 1<<30, note)
	}
	return bodies
}

// gone returns messages outside the queue that have no recorded outcome.
func (m *mover) gone() (bodies []string) {
	living := m.living()
	for i := range m.n {
		if body := fmt.Sprint("m", i); m.fate[body] == "" && !living[body] && !m.isPending(body) {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

func (m *mover) publishSome() {
	var batch []message.Message
	for range 1 + m.rng.IntN(4) {
		body := fmt.Sprint("m", m.n)
		delay, ttl := []int64{0, 1, 30, 300, 3000}[m.rng.IntN(5)], []int64{-1, 0, 5, 50, 2000}[m.rng.IntN(5)]
		x := withTTL(heldBack(body, delay), ttl)
		setPersistent(&x, m.rng.IntN(4) > 0)
		m.n++
		m.release[body], m.own[body], m.kept[body] = m.ms()+delay, ttl, x.Persistent()
		m.numbers[m.number+uint64(len(batch))+1] = body
		batch = append(batch, x)
	}
	m.publish(batch...)
}

// written completes all work of the journal.
func (m *mover) written() {
	m.disk.late, m.hold = false, false
	for m.feed(again{}); len(m.commits) > 0; {
		m.settleCommit()
	}
}

// change cancels or reschedules a scheduled message.
func (m *mover) change() {
	m.written()
	m.feed(&mail.ListScheduled{Request: mail.Request{ReplyTo: ch1}})
	list := one[*mail.ScheduledPage](m.core).Messages
	if len(list) == 0 {
		return
	}
	x := list[m.rng.IntN(len(list))]
	body, seq, id := strings.TrimPrefix(x.MessageID, "id "), x.Seq, ""
	if m.rng.IntN(2) == 0 {
		seq, id = 0, x.MessageID
	}
	due := m.ms() + int64(m.rng.IntN(1000))
	cancelled := m.rng.IntN(2) == 0
	if cancelled {
		m.feed(&mail.ChangeScheduled{Cancel: true, Request: mail.Request{ReplyTo: ch1}, Seq: seq, MessageID: id})
	} else {
		m.release[body] = due
		m.feed(&mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}, Seq: seq, MessageID: id, Due: start + due})
	}
	r := one[*mail.ChangeScheduledReply](m.core)
	if failed := r.Err != nil; r.Count != 1 || failed != (m.disk.err != nil) && (failed || x.Persistent) {
		m.t.Fatalf("%s: %d changed, %v", body, r.Count, r.Err)
	}
	if cancelled {
		m.ends(body, "cancelled")
	} else if m.disk.err != nil {
		m.release[body] = 0 // a restart may restore its old time
	}
}

func (m *mover) purge() {
	m.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	m.collect()
	gone := m.gone()
	for len(m.commits) > 0 { // the answer waits for the journal (DUR-3)
		m.settleCommit()
	}
	if n := one[*mail.PurgeReply](m.core).MessageCount; n != len(gone) {
		m.t.Fatalf("%d purged, %d are gone: %v", n, len(gone), gone)
	}
	for _, body := range gone {
		m.ends(body, "purged")
	}
}

// configure sets or removes forwarding, a retroactive TTL and a release rate, at random.
func (m *mover) configure() {
	m.settled = []func(*policies.QueueSettings){dlx, delaying, overdue(m.overdue), func(s *policies.QueueSettings) { s.RetroactiveTTL = true }}
	if m.rng.IntN(2) == 0 {
		m.settled = append(m.settled, forwardTo)
	}
	if m.rng.IntN(3) == 0 {
		m.settled = append(m.settled, ttl([]int64{shortest, 400}[m.rng.IntN(2)]))
	}
	if m.rng.IntN(4) == 0 {
		m.settled = append(m.settled, rate(100))
	}
	m.feed(&mail.Configure{Settings: settings(m.settled...)})
}

// restart restarts the broker and checks that messages that must survive did, and that none that ended is back, unless the
// journal was failing.
func (m *mover) restart() {
	m.collect()
	before := m.living()
	m.pending, m.held, m.first = nil, nil, 0
	for _, body := range m.numbers { // not answered
		m.kept[body] = false
	}
	clear(m.numbers)
	m.disk.err, m.disk.late, m.disk.reads = nil, false, nil
	m.core = m.restarted(1+int64(m.rng.IntN(200)), m.settled...)
	m.consume(ch1, "a", 3)
	m.collect()
	for body := range m.living() {
		if m.fate[body] != "" {
			if !m.unwritten[body] {
				m.t.Fatalf("%s was %s, and is back", body, m.fate[body])
			}
			m.inDoubt++
			delete(m.fate, body)
		}
	}
	clear(m.unwritten)
	for _, body := range m.gone() {
		late := m.overdue == policies.OverdueDrop && m.release[body] <= m.ms()
		if before[body] && m.kept[body] && !late {
			m.t.Fatalf("%s, due at %d, is lost at %d", body, m.release[body], m.ms())
		}
		m.ends(body, "lost")
	}
}

func (m *mover) stepInTime() {
	switch m.rng.IntN(40) {
	default:
		m.publishSome()
	case 0, 1, 2, 3, 4, 5:
		m.change()
	case 6:
		m.purge()
	case 7, 8, 9:
		m.configure()
	case 10:
		m.restart()
	case 11:
		m.written()
		m.disk.err = errors.New("a fence")
	case 29, 30:
		m.hold = true
	case 31:
		m.written()
	case 32:
		m.disk.late = true
	case 12, 13, 14, 15, 16, 17, 18, 19:
		m.at(m.ms() + int64(m.rng.IntN(200)))
	case 20, 21, 22, 23:
		m.answer(1+m.rng.IntN(6), 3)
	case 24:
		m.pending = nil
		m.feed(&mail.DeadLetterReply{Incarnation: 7, Lost: true, Epoch: m.DeadLetters.Counts().Epoch})
	case 25, 26, 27, 28:
		m.settleOne([]mail.Settlement{mail.Ack, mail.Requeue}[m.rng.IntN(2)])
	}
	m.collect()
}

// TestScheduledRandom_DLY14: with forwarding set and removed, changing retroactive TTLs, a failing journal and restarts, no
// scheduled message is early, and each ends once. Under pressure contents are paged out.
func TestScheduledRandom_DLY14(t *testing.T) {
	seeded(t, 200, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := &mover{
			rng: rng, due: map[string]int64{}, fate: map[string]string{},
			times: &times{
				release: map[string]int64{}, own: map[string]int64{}, kept: map[string]bool{}, unwritten: map[string]bool{},
				numbers: map[uint64]string{},
				overdue: []string{policies.OverdueDeliver, policies.OverdueDrop, policies.OverdueDeadLetter}[rng.IntN(3)],
			},
		}
		m.settled = []func(*policies.QueueSettings){dlx, delaying, overdue(m.overdue)}
		m.core = durableCore(t, m.settled...)
		pressure, turns := rng.IntN(3), rand.New(rand.NewPCG(seed, 2))
		m.pressed = func() bool { return turns.IntN(2) < pressure }
		m.consume(ch1, "a", 3)
		for range 300 {
			m.stepInTime()
		}
		m.restart()
		m.wind()
	})
}

// wind ends all messages.
func (m *mover) wind() {
	m.feed(&mail.Configure{Settings: settings(dlx, delaying, forwardTo)})
	for m.collect(); len(m.pending)+len(m.held) > 0 || m.Backlog.Len() > 0 || m.Scheduled.Len() > 0; m.collect() {
		m.answer(len(m.pending), 0)
		m.settleOne(mail.Ack)
		m.at(m.ms() + 1000)
	}
	if gone := m.gone(); len(gone) > 0 || m.DeadLetters.Counts().Forwarding != 0 || m.DeadLetters.Counts().Bytes != 0 || m.Journal.Spilling() != 0 || len(m.numbers) != 0 {
		m.t.Fatalf("nobody knows what became of %v, %d moving, %d bytes under way, %d unanswered", gone, m.DeadLetters.Counts().Forwarding, m.Journal.Spilling(), len(m.numbers))
	}
	if len(m.disk.puts) != 0 {
		for _, r := range m.disk.puts {
			m.t.Errorf("%s, which was %s, is left in the journal, due at %d", r.Body, m.fate[string(r.Body)], r.Due-start)
		}
		m.t.Fatalf("%d are left in the journal", len(m.disk.puts))
	}
}
