package consumers

import (
	"math/rand/v2"
	"testing"

	"candlemark/actors/mail"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sent counts the mail to each channel.
type sent map[string][]any

func (s sent) Send(to mail.Address, what any) { s[to.Id] = append(s[to.Id], what) }

var channels = []mail.Address{address("a"), address("b"), address("c")}

func address(id string) mail.Address {
	a := zeroOf(mail.Address(nil))
	a.Id = id
	return a
}

func zeroOf[T any](*T) *T { return new(T) }

// TestSet does things at random: who can take a message and nobody else is in its ring,
// nobody holds more than its prefetch, and nobody who can take is passed over for a lower priority.
func TestSet(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		out := sent{}
		s := New(out, address("queue"), seed%2 == 0, seed%4 == 0)
		any := func() *Consumer {
			var list []*Consumer
			s.Consumers(func(c *Consumer) { list = append(list, c) })
			if len(list) == 0 {
				return nil
			}
			return list[r.IntN(len(list))]
		}
		for range 300 {
			channel := channels[r.IntN(len(channels))]
			switch c := any(); r.IntN(8) {
			case 0:
				h, _ := s.Open(channel)
				s.Attach(&Consumer{
					Channel: h, Tag: "t", Limited: r.IntN(2) == 0, Prefetch: r.IntN(4), Priority: r.Int64N(3),
				}, false)
			case 1:
				if c != nil {
					s.Cancel(c)
				}
			case 2:
				s.Allow(&mail.Allow{Channel: channel, Messages: 1 + r.IntN(3)})
			case 3:
				s.Reclaim(&mail.Reclaim{Channel: channel})
			case 4:
				s.Limit(&mail.Limit{Channel: channel, On: r.IntN(2) == 0})
			case 5:
				s.Offer(r.IntN(3))
			case 6:
				if h := s.Channel(channel); h != nil {
					h.Unacked.TakeSome(1, h.Unacked.Last(), 1, func(_ uint64, d Delivery) { s.Release(d) })
				}
			case 7:
				if next := s.Next(); next != nil {
					s.Consumers(func(c *Consumer) {
						if c.Priority > next.Priority && c.canTake() && s.Active(c) {
							t.Fatalf("seed %d: %+v is passed over", seed, c)
						}
					})
					s.Hold(next.Channel, Delivery{Message: 1, Consumer: next})
					s.Deliver(next, mail.Delivery{})
					if next.Prefetch > 0 && next.Held() > next.Prefetch {
						t.Fatalf("seed %d: %d of %d", seed, next.Held(), next.Prefetch)
					}
				}
			}
			s.Flush()
			if err := s.Check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}
