package queue

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/mail"
	"candlemark/policies"
	"candlemark/protocol"
)

func priority(v any) func(*mail.Consume) {
	return func(m *mail.Consume) { m.Arguments = m.Arguments.Set("x-priority", v) }
}

// TestPriorities_DEC15: a consumer gets messages only while no consumer with a higher priority can take them; consumers of one
// priority take turns.
func TestPriorities_DEC15(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "low", 0, priority(int8(-1)))
	c.consume(ch1, "a", 2)
	c.consume(ch2, "high", 1, priority(int64(1<<40)))
	c.consume(ch2, "b", 2, priority(uint8(0)))
	c.put(bodies(1, 8)...)
	c.want("high", c.delivered("high"), "1")
	c.want("a", c.delivered("a"), "2", "4")
	c.want("b", c.delivered("b"), "3", "5")
	c.want("low", c.delivered("low"), "6", "7", "8")
	c.settle(ch2, mail.Ack, 1, 1)
	c.settle(ch1, mail.Ack, 1, 1)
	c.put("9", "10", "11")
	c.want("high has room again", c.delivered("high"), "9")
	c.want("a has room again", c.delivered("a"), "10")
	c.want("low", c.delivered("low"), "11")
}

// TestPrioritiesWithoutAcks_DEC15: without acknowledgements the window limits a consumer; within it the highest priority gets all
// messages.
func TestPrioritiesWithoutAcks_DEC15(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "low", 0, noAck)
	c.consume(ch1, "high", 0, noAck, priority(int32(5)))
	for i := range consumers.WindowMessages + 2 {
		c.put(fmt.Sprint(i))
	}
	high := c.delivered("high")
	c.want("low", c.delivered("low"), fmt.Sprint(consumers.WindowMessages), fmt.Sprint(consumers.WindowMessages+1))
	if len(high) != consumers.WindowMessages {
		t.Errorf("%d for the one above", len(high))
	}
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "high"})
	c.put("last")
	c.want("nobody is above", c.delivered("low"), "last")
	c.feed(&mail.ChannelGone{Channel: ch1})
	if c.consumers.Len() != 0 { // nor is a ring (see check)
		t.Errorf("%d consumers are left", c.consumers.Len())
	}
}

func TestConsumerArguments_DEC15(t *testing.T) {
	c := newCore(t)
	for what, change := range map[string]func(*mail.Consume){
		`PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'q' in vhost '/': "expected integer, got longstr"`: priority("1"),
		`PRECONDITION_FAILED - invalid arg 'x-consumer-timeout' for queue 'q' in vhost '/': {value_negative,-1}`: func(m *mail.Consume) {
			m.Arguments = protocol.Table{{Key: "x-consumer-timeout", Value: int32(-1)}}
		},
	} {
		if got := code(c.consume(ch1, "a", 0, change).Err); got != what {
			t.Errorf("got %q, want %q", got, what)
		}
	}
	if c.consumers.Len() != 0 || c.openChannels() != 0 {
		t.Error("a refused consumer is there")
	}
}

// TestArgumentsBeforeExclusiveUse_DEC15: arguments are checked before exclusive use, as in RabbitMQ.
func TestArgumentsBeforeExclusiveUse_DEC15(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 0, func(m *mail.Consume) { m.Exclusive = true })
	if got := code(c.consume(ch1, "b", 0, priority(true)).Err); got != `PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'q' in vhost '/': "expected integer, got bool"` {
		t.Error(got)
	}
}

func newQuorum(t *testing.T, change ...func(*policies.QueueSettings)) *core {
	cfg := testConfig(policies.QueueSettings{})
	cfg.Queue.Arguments = protocol.Table{{Key: "x-queue-type", Value: "quorum"}}
	cfg.Queue.Durable = true
	cfg.Settings = policies.SettingsFor(cfg.Queue.Arguments, policies.Effective{})
	for _, f := range change {
		f(&cfg.Settings)
	}
	return newCoreOf(t, cfg)
}

// TestSuccession_DEC11: the highest priority follows the active consumer.
func TestSuccession_DEC11(t *testing.T) {
	c := newCore(t, single)
	c.consume(ch1, "a", 0)
	c.consume(ch1, "b", 0, priority(int8(1)))
	c.consume(ch1, "c", 0, priority(int8(2)))
	c.consume(ch1, "d", 0, priority(int8(2)))
	for i, tag := range []string{"a", "c", "d", "b"} {
		body := fmt.Sprint(i)
		c.put(body)
		c.want("active", c.delivered(tag), body)
		c.feed(&mail.CancelConsumer{Channel: ch1, Tag: tag})
	}
	if c.consumers.Len() != 0 {
		t.Error("somebody is left")
	}
}

// TestTakeover_DEC11: on a quorum queue a consumer with a higher priority takes over when the active one holds no more
// deliveries.
func TestTakeover_DEC11(t *testing.T) {
	c := newQuorum(t, single)
	c.consume(ch1, "a", 5)
	c.put("1", "2")
	c.want("a", c.delivered("a"), "1", "2")
	c.consume(ch2, "b", 5, priority(int8(1)))
	c.consume(ch2, "c", 5, priority(int8(1)))
	c.put("3")
	c.settle(ch1, mail.Ack, 1, 1)
	c.put("4")
	if n := len(all[*mail.Deliver](c)); n != 0 {
		t.Fatalf("%d deliveries while one makes way", n)
	}
	c.settle(ch1, mail.Ack, 2, 2)
	c.want("b took over", c.delivered("b"), "3", "4")
	c.feed(&mail.ChannelGone{Channel: ch2})
	c.want("a is active again", c.delivered("a"), "3*", "4*")
}

// TestTakeoverReturnsAllowance_DEC11: the allowance of a consumer that is replaced is returned, even if it arrives late.
func TestTakeoverReturnsAllowance_DEC11(t *testing.T) {
	c := newQuorum(t, single)
	c.consume(ch1, "a", 0, limited)
	c.put("1")
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 3})
	c.want("a", c.delivered("a"), "1")
	c.offer()
	all[*mail.QosUnused](c)
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 3})
	c.consume(ch2, "b", 0, priority(int8(1)))
	returned := 0
	for _, u := range all[*mail.QosUnused](c) {
		returned += u.Messages
	}
	if returned != 4 { // including the one left from the first allowance
		t.Errorf("%d returned", returned)
	}
	c.put("2")
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 2})
	if u := one[*mail.QosUnused](c); u.Messages != 2 {
		t.Errorf("%+v", u)
	}
	c.settle(ch1, mail.Ack, 1, 1)
	c.want("b", c.delivered("b"), "2")
}

func TestExclusiveOnSingleActive_DEC15(t *testing.T) {
	c := newCore(t, single)
	reply := c.consume(ch1, "a", 0, func(m *mail.Consume) { m.Exclusive = true })
	if got := code(reply.Err); got != "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use" {
		t.Error(got)
	}
}

// TestOfferByPriority: under global limits, too, the channel of the consumer with the highest priority gets the first offer.
func TestOfferByPriority(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 0, limited, priority(int32(1)))
	c.consume(ch2, "b", 0, limited, priority(int32(2)))
	c.consume(other, "c", 0, limited, priority(int32(1)))
	c.put("1")
	c.wantOffers(ch2, ch1, other)
}

// Messages allowed by a channel are shared by its consumers as usual: by priority, then in turn, even if few are allowed at a
// time.
func TestOfferSharedByConsumers(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 0, limited)
	c.consume(ch1, "high", 2, limited, priority(int32(1)))
	c.consume(ch1, "b", 0, limited)
	c.put("1", "2", "3", "4", "5", "6", "7")
	for _, n := range []int{1, 2, 1, 3} {
		c.wantOffers(ch1)
		c.feed(&mail.QosAllow{Channel: ch1, Messages: n})
	}
	c.want("high", c.delivered("high"), "1", "2")
	c.want("a", c.delivered("a"), "3", "5", "7")
	c.want("b", c.delivered("b"), "4", "6")
}

// A consumer attached after the one with an open offer left is offered again: the channel dropped the offer with its last
// consumer.
func TestOfferForgotten(t *testing.T) {
	c := newCore(t)
	c.put("1")
	c.consume(ch1, "a", 0, limited)
	c.wantOffers(ch1)
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
	c.consume(ch1, "b", 0, limited)
	c.wantOffers(ch1)
}

func (c *core) wantOffers(channels ...mail.Address) {
	c.t.Helper()
	var offered []string
	c.posts = slices.DeleteFunc(c.posts, func(p mail.Post) bool {
		o, offer := p.Mail.(*mail.QosOffer)
		if offer && o.Messages > 0 {
			offered = append(offered, p.To.GetId())
		}
		return offer
	})
	want := make([]string, len(channels))
	for i, channel := range channels {
		want[i] = channel.GetId()
	}
	c.want("offers", offered, want...)
}
