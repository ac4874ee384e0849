package consumers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/transport/budget"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var channels = []mail.Address{address.Named("a"), address.Named("b"), address.Named("c")}

// TestSet makes random changes: the ring contains exactly the consumers that can take a message, no consumer holds more than its
// prefetch, and none that can take one is passed over for a lower priority.
func TestSet(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		clients := newClients()
		s := New(&clients.out, address.Named("queue"), clients.post, seed%2 == 0, seed%4 == 0)
		for range 300 {
			channel := channels[r.IntN(len(channels))]
			switch c := s.any(r); r.IntN(15) {
			case 0:
				h, _ := s.Open(channel)
				s.Attach(anyConsumer(r, h, clients.parts[channel]), !s.InUse(true) && r.IntN(4) == 0)
			case 1:
				if c != nil {
					s.Cancel(c)
				}
			case 2:
				s.Allow(&mail.QosAllow{Channel: channel, Messages: 1 + r.IntN(3)})
			case 3:
				s.Reclaim(&mail.QosReclaim{Channel: channel})
			case 4:
				s.Limit(&mail.QosLimited{Channel: channel, On: r.IntN(2) == 0})
			case 5:
				s.Offer(r.IntN(3))
			case 6:
				if h := s.Channel(channel); h != nil {
					h.Unacked.TakeSome(1, h.Unacked.Last(), 1, func(_ uint64, d ChannelDelivery) { s.Release(d) })
				}
			case 7:
				if err := s.deliverNext(r.IntN(40_000)); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			case 8:
				if h := s.Channel(channel); h != nil {
					s.DetachAll(h)
				}
			case 9:
				s.Pause(Held, r.IntN(2) == 0)
			case 10:
				if c != nil {
					s.Grant(&mail.ReturnWindow{Channel: c.Channel.Address, Tag: c.Tag, Messages: c.messages, Bytes: c.bytes})
				}
			case 12:
				if c != nil {
					s.Credit(&mail.SetLinkCredit{Channel: c.Channel.Address, Tag: "t", DeliveryCount: c.delivered, Credit: uint32(r.IntN(4)), Drain: r.IntN(3) == 0})
				}
			case 13:
				s.AnswerCredit(r.IntN(3))
			case 14:
				clients.reads(channel, r.IntN(100_000))
			case 11: // not below the number that it holds
				if c != nil && !slices.ContainsFunc(c.Channel.consumers, func(x *Consumer) bool { return x.unacked > 3 }) {
					s.Resize(&mail.SetPrefetch{Channel: c.Channel.Address, Prefetch: 3})
				}
			}
			if err := errors.Join(clients.gets(&s), s.check(), clients.check(&s)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

func anyConsumer(r *rand.Rand, h *Holder, unread *budget.Part) *Consumer {
	return &Consumer{
		Channel: h, Unread: unread, Tag: "t", Limited: r.IntN(2) == 0, Credited: r.IntN(3) == 0, Prefetch: r.IntN(4), Priority: r.Int64N(3),
	}
}

// any returns a random consumer, nil if there is none.
func (s *Consumers) any(r *rand.Rand) *Consumer {
	var list []*Consumer
	s.Consumers(func(c *Consumer) { list = append(list, c) })
	if len(list) == 0 {
		return nil
	}
	return list[r.IntN(len(list))]
}

// deliverNext delivers a message of a size to the next consumer.
func (s *Consumers) deliverNext(size int) (err error) {
	next := s.NextFor(mail.ChargeOf(size))
	if next == nil {
		return nil
	}
	s.Consumers(func(c *Consumer) {
		if c.Priority > next.Priority && c.canTake() && s.Active(c) {
			err = fmt.Errorf("%+v is passed over", c)
		}
	})
	s.Hold(next.Channel, ChannelDelivery{Message: 1, Consumer: next})
	_, d := s.Deliver(next, 0, mail.ChargeOf(size))
	d.Message.Body = make([]byte, size)
	if next.Prefetch > 0 && next.unacked > next.Prefetch {
		err = fmt.Errorf("%d of %d", next.unacked, next.Prefetch)
	}
	return err
}

// check returns an error if the set is inconsistent.
func (s *Consumers) check() error {
	n, held := 0, 0
	for id, h := range s.channels {
		held += h.Unacked.Len()
		if h.allowed < 0 {
			return fmt.Errorf("channel %s allowed %d", id, h.allowed)
		}
		for _, c := range h.consumers {
			n++
			if can := c.canTake() && s.Active(c); (c.next != nil) != can || c.unacked < 0 {
				return fmt.Errorf("consumer %s in the ring: %v, can take: %v, holds %d", c.Tag, c.next != nil, can, c.unacked)
			}
		}
	}
	if n != s.count || held != s.unacked {
		return fmt.Errorf("%d consumers, %d counted; %d deliveries, %d counted", n, s.count, held, s.unacked)
	}
	if n == 0 && (len(s.roundRobin) > 0 || len(s.waiting) > 0 || len(s.limited) > 0 || s.active != nil || s.exclusive != nil) {
		return fmt.Errorf("consumers that are gone are remembered: %+v", s)
	}
	return nil
}
