package consumers

import (
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/transport/budget"
)

// clients are the clients of the channels a, b and c; a and b are on one connection, and all belong to one user.
type clients struct {
	out    mail.Posts
	parts  map[mail.Address]*budget.Part
	held   map[mail.Address][]*mail.Deliver // not read
	posted []any
}

// unreadLimit of all clients together.
const unreadLimit = 400_000

func newClients() *clients {
	u := budget.NewUnread()
	u.SetLimit(unreadLimit)
	first, second := u.Of("user", nil), u.Of("user", nil)
	return &clients{
		parts: map[mail.Address]*budget.Part{channels[0]: first.Part(), channels[1]: first.Part(), channels[2]: second.Part()},
		held:  map[mail.Address][]*mail.Deliver{},
	}
}

func (c *clients) post(_ mail.Address, what any) { c.posted = append(c.posted, what) }

// gets ends a turn: it hands over the deliveries, and passes on what was posted. The error is for mail of another type.
func (c *clients) gets(s *Consumers) error {
	s.Flush()
	for _, p := range c.out {
		if d, ok := p.Mail.(*mail.Deliver); ok {
			c.held[p.To] = append(c.held[p.To], d)
		}
	}
	c.out.Clear()
	posted := c.posted
	c.posted = nil
	for _, m := range posted {
		room, ok := m.(*mail.UnreadRoom)
		if !ok {
			return fmt.Errorf("%T was posted", m)
		}
		s.roomy(room)
	}
	return nil
}

// reads reads at least that many bytes of a channel, if there are so many.
func (c *clients) reads(channel mail.Address, bytes int) {
	for bytes > 0 && len(c.held[channel]) > 0 {
		d := c.held[channel][0]
		bytes -= d.Items[d.Written].Charge()
		if d.Wrote(); d.Written == len(d.Items) {
			d.Release()
			c.held[channel] = c.held[channel][1:]
		}
		d.Paid()
	}
}

// check returns an error if the clients hold more than their limits, or if consumers wait although there is room.
func (c *clients) check(s *Consumers) error {
	sum := map[mail.Address]int{}
	for channel, list := range c.held {
		for _, d := range list {
			for i := d.Written; i < len(d.Items); i++ {
				sum[channel] += d.Items[i].Charge()
			}
		}
	}
	const one = 41_000 // bytes of the largest delivery
	if of := sum[channels[0]] + sum[channels[1]]; of > unreadLimit/4+one+budget.FreeUnread {
		return fmt.Errorf("a connection holds %d bytes", of)
	}
	if sum[channels[0]]+sum[channels[1]]+sum[channels[2]] > unreadLimit/2+2*(one+2*budget.FreeUnread) {
		return fmt.Errorf("a user holds %v bytes", sum)
	}
	for channel, h := range s.channels {
		if len(h.crowded) > 0 && (!h.waits || sum[h.Address] == 0 && sum[channels[0]]+sum[channels[1]]+sum[channels[2]] == 0) {
			return fmt.Errorf("%d consumers of channel %s wait", len(h.crowded), channel)
		}
	}
	return nil
}

// A consumer whose client does not read waits, also for a message to another consumer of its connection; consumers of other
// connections get the messages.
func TestPRO20_Crowded(t *testing.T) {
	for _, size := range []int{10, 1_000, 30_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			c := newClients()
			s := New(&c.out, address.Named("queue"), c.post, false, false)
			for i, channel := range []mail.Address{channels[0], channels[0], channels[1], channels[2]} {
				h, _ := s.Open(channel)
				s.Attach(&Consumer{Channel: h, Unread: c.parts[channel], Tag: fmt.Sprint("tag", i), NoAck: true}, false)
			}
			deliver := func() (n int) { // in turns of 10 messages
				for ; s.NextFor(mail.ChargeOf(size)) != nil && n < 100_000; n++ {
					_, d := s.Deliver(s.Next(), size, mail.ChargeOf(size))
					d.Message.Body = make([]byte, size)
					if n%10 == 9 {
						_ = c.gets(&s)
						for _, h := range s.channels { // the windows are not in question
							for _, k := range h.consumers {
								s.Grant(&mail.ReturnWindow{Channel: h.Address, Tag: k.Tag, Messages: k.messages, Bytes: k.bytes})
							}
						}
					}
				}
				_ = c.gets(&s)
				return n
			}
			first := deliver()
			if err := c.check(&s); err != nil || first*mail.ChargeOf(size) < unreadLimit/4 || s.Next() != nil {
				t.Fatal(first, err, s.Next())
			}
			c.reads(channels[2], unreadLimit)
			if _ = c.gets(&s); s.Next() == nil || s.Next().Channel.Address != channels[2] {
				t.Error("the client that has read gets nothing")
			}
			c.reads(channels[0], 1)
			if _ = c.gets(&s); s.Channel(channels[1]).crowded == nil {
				t.Error("a client that has read almost nothing gets more")
			}
			c.reads(channels[0], unreadLimit)
			c.reads(channels[1], unreadLimit)
			_ = c.gets(&s)
			if again := deliver(); again < first*9/10 {
				t.Errorf("%d messages, %d before", again, first)
			}
		})
	}
}
