package qos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sender records the mail sent.
type sender struct{ sent []string }

func (s *sender) Self() mail.Address { return nil }

func (s *sender) Send(to mail.Address, what any) {
	text := to.GetId() + " " + fmt.Sprintf("%T", what)[len("*mail."):]
	if a, ok := what.(*mail.QosAllow); ok {
		text += fmt.Sprint(" ", a.Messages)
	}
	s.sent = append(s.sent, text)
}

func (s *sender) check(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(s.sent, want) {
		t.Errorf("sent %q, want %q", s.sent, want)
	}
	s.sent = nil
}

func queue(name string) *Queue { return &Queue{Address: address.Named(name)} }

func TestLimit_OffersInOrder(t *testing.T) {
	s := &sender{}
	l := New(s)
	a, b := queue("a"), queue("b")
	l.Attach(a)
	l.Attach(a)
	l.Attach(b)
	l.Offered(a, 5) // no limit is set
	s.check(t)
	l.Set(3)
	s.check(t, "a QosLimited", "b QosLimited")
	l.Offered(a, 2)
	l.Offered(b, 2)
	s.check(t, "a QosAllow 2", "b QosAllow 1")
	l.Delivered(a)
	l.Offered(a, 4)
	s.check(t, "b QosReclaim") // of its one message, which it may not need
	l.Unused(b, 1)
	s.check(t, "a QosAllow 1")
	l.Detach(a)
	l.Detach(a) // the two messages allowed to it will not be delivered
	l.Allow()
	if unacked, allowed := l.Load(); unacked != 1 || allowed != 0 {
		t.Errorf("%d unacked, %d allowed", unacked, allowed)
	}
	l.Set(0)
	s.check(t, "b QosLimited")
}

// With any order of offers, deliveries and settlements, deliveries never exceed the limit, and an offer waits only while the
// limit is used up or reclaimed.
func TestLimit_Random(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	const limit = 10
	s := &sender{}
	l := New(s)
	queues := []*Queue{queue("a"), queue("b"), queue("c")}
	for _, q := range queues {
		l.Attach(q)
	}
	l.Set(limit)
	out := 0
	for range 20_000 {
		q := queues[random.IntN(3)]
		switch random.IntN(5) {
		case 0:
			l.Offered(q, random.IntN(4))
		case 1:
			if q.allowed > 0 {
				l.Delivered(q)
				out++
			}
		case 2:
			if out > 0 {
				out--
				l.Settled()
				l.Allow()
			}
		case 3:
			if q.reclaimed {
				l.Unused(q, q.allowed)
			}
		}
		unacked, allowed := l.Load()
		if sum := queues[0].allowed + queues[1].allowed + queues[2].allowed; unacked != out || allowed != sum || out+allowed > limit {
			t.Fatalf("seed %d: %d and %d, want %d and %d", seed, unacked, allowed, out, sum)
		}
		if l.Waiting() && out+allowed < limit {
			t.Fatalf("seed %d: waits with %d of %d", seed, out+allowed, limit)
		}
		for _, x := range queues {
			if len(l.offers) > 0 && out < limit && x != l.offers[0].queue && x.allowed > 0 && !x.reclaimed {
				t.Fatalf("seed %d: %s keeps what another needs", seed, x.Address.GetId())
			}
		}
	}
}
