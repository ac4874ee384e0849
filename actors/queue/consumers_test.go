package queue

import (
	"fmt"
	"testing"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

func bodies(from, to int) []string {
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprint(i))
	}
	return list
}

// TestTurns_Fairness: consumers that can take messages take turns, one message each, whether messages wait or arrive.
func TestTurns_Fairness(t *testing.T) {
	c := newCore(t)
	for _, tag := range []string{"a", "b", "c"} {
		c.consume(ch1, tag, 0)
	}
	c.put(bodies(1, 9)...)
	for i, tag := range []string{"a", "b", "c"} {
		c.want(tag, c.delivered(tag), fmt.Sprint(i+1), fmt.Sprint(i+4), fmt.Sprint(i+7))
	}
	for range 3 {
		c.put("x")
	}
	for _, tag := range []string{"a", "b", "c"} {
		c.want(tag, c.delivered(tag), "x")
	}
}

func TestTurnsGoOnWithoutTheFull_Fairness(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 1)
	c.consume(ch1, "b", 2)
	c.consume(ch2, "c", 0)
	c.put(bodies(1, 9)...)
	c.want("a", c.delivered("a"), "1")
	c.want("b", c.delivered("b"), "2", "4")
	c.want("c", c.delivered("c"), "3", "5", "6", "7", "8", "9")
	c.settle(ch1, mail.Ack, 1, 1)
	c.put("10", "11")
	c.want("a has room again", c.delivered("a"), "11")
	c.want("c was first in turn", c.delivered("c"), "10")
}

func TestPrefetch(t *testing.T) {
	c := newCore(t)
	c.put(bodies(1, 10)...)
	c.consume(ch1, "a", 3)
	c.want("delivered", c.delivered("a"), bodies(1, 3)...)
	c.settle(ch1, mail.Ack, 2, 2)
	c.want("one more", c.delivered("a"), "4")
	c.settle(ch1, mail.Ack, 1, 4)
	c.want("three more", c.delivered("a"), bodies(5, 7)...)
	c.settle(ch1, mail.Requeue, 5, 7)
	c.want("the same again", c.delivered("a"), "5*", "6*", "7*")
	c.get(ch1) // does not count towards the prefetch
	c.settle(ch1, mail.Reject, 8, 8)
	c.want("one more", c.delivered("a"), "9")
}

func TestWindow(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 0, noAck)
	batch := make([]message.Message, consumers.WindowMessages+5)
	for i := range batch {
		batch[i] = msg("m", -1)
	}
	c.publish(batch...)
	if n := len(c.delivered("a")); n != consumers.WindowMessages {
		t.Fatalf("%d under way", n)
	}
	c.feed(&mail.ReturnWindow{Channel: ch1, Tag: "a", Messages: 3, Bytes: 3})
	if n := len(c.delivered("a")); n != 3 {
		t.Fatalf("%d for a grant of 3", n)
	}
	big := message.Message{Body: make([]byte, consumers.WindowBytes), TTL: -1, Owned: true}
	c.feed(&mail.ReturnWindow{Channel: ch1, Tag: "a", Messages: consumers.WindowMessages, Bytes: consumers.WindowMessages})
	c.delivered("a")
	c.publish(big, msg("behind", -1))
	if n := len(c.delivered("a")); n != 1 {
		t.Fatalf("%d beside the large one", n)
	}
	c.feed(&mail.ReturnWindow{Channel: ch1, Tag: "a", Messages: 3, Bytes: consumers.WindowBytes + 2})
	c.want("delivered", c.delivered("a"), "behind")
	c.feed(&mail.ReturnWindow{Channel: ch2, Tag: "a", Messages: 1}) // for an unknown consumer
}

// TestNumbers: the deliveries of a channel, by all its consumers and gets, are numbered without gaps.
func TestNumbers(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 1)
	c.put("1", "2", "3")
	r := c.get(ch1)
	c.consume(ch1, "b", 0)
	var numbers []uint64
	for _, x := range c.items() {
		numbers = append(numbers, x.Number)
	}
	c.wantNumbers("numbers", append(numbers, r.Delivery.Number), 1, 3, 2)
}

// TestSettleTwice_LEASE6: settling a delivery that is settled already, or was never made, has no effect.
func TestSettleTwice_LEASE6(t *testing.T) {
	c := newCore(t)
	c.put("1", "2")
	c.get(ch1)
	c.get(ch1)
	c.settle(ch1, mail.Ack, 1, 1)
	c.settle(ch1, mail.Requeue, 1, 1)
	c.settle(ch1, mail.Requeue, 1, 100)
	c.settle(ch2, mail.Ack, 1, 1)
	c.want("ready", c.ready(), "2")
}

// TestPositions_TTL16: a requeued message returns to its position (TTL-16).
func TestPositions_TTL16(t *testing.T) {
	c := newCore(t)
	c.put(bodies(1, 200)...)
	for range 200 {
		c.get(ch1)
	}
	for _, n := range []uint64{150, 3, 199, 64, 65, 1} {
		c.settle(ch1, mail.Requeue, n, n)
	}
	c.want("ready", c.ready(), "1", "3", "64", "65", "150", "199")
	c.put("201")
	c.settle(ch1, mail.Requeue, 66, 66)
	c.want("ready", c.ready(), "1", "3", "64", "65", "66", "150", "199", "201")
	c.feed(&mail.PeerGone{Who: ch1})
	c.want("all", c.ready(), bodies(1, 201)...)
	if r := c.get(ch2); !r.Delivery.Redelivered {
		t.Error("not marked as redelivered")
	}
}

// TestChunk: a delivery that refers to the publisher's chunk holds it until it is written; a copy does not. The chunk is released
// exactly once, as a second release panics.
func TestChunk(t *testing.T) {
	for _, taken := range []bool{true, false} {
		gate := message.NewGate(1000)
		chunk := gate.NewChunk(100)
		c := newCore(t)
		if taken {
			c.consume(ch1, "a", 0, noAck)
		}
		chunk.Retain()
		c.feed(&mail.Enqueue{From: publisher, Chunk: chunk, Messages: []message.Message{
			{Body: chunk.Buf[:10], TTL: -1}, {Body: chunk.Buf[10:20], TTL: -1},
		}})
		chunk.Release() // the reader's own reference
		if held := gate.Used() > 0; held != taken {
			t.Fatalf("held: %v, taken: %v", held, taken)
		}
		if taken {
			one[*mail.Deliver](c).Release()
		}
		if gate.Used() != 0 {
			t.Fatalf("taken %v: %d bytes are still charged", taken, gate.Used())
		}
	}
}

// offering returns a queue with three messages and a consumer under its channel's global limit (PRO-8).
func offering(t *testing.T, prefetch int) *core {
	c := newCore(t)
	c.consume(ch1, "a", prefetch, limited)
	c.put("1", "2", "3")
	return c
}

// stalled returns a queue with an allowance that its consumer cannot use now.
func stalled(t *testing.T) *core {
	c := newCore(t)
	c.consume(ch1, "a", 0, limited)
	c.consumers.Grant(&mail.ReturnWindow{Channel: ch1, Tag: "a", Bytes: -consumers.WindowBytes}) // its window is full
	c.put("1")
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 1})
	return c
}

func TestOfferOnce(t *testing.T) {
	c := offering(t, 0)
	if o := c.offer(); o.Messages != 3 || o.Queue != queuePID {
		t.Fatalf("%+v", o)
	}
	c.put("4")
	if n := len(c.offers()); n != 0 {
		t.Fatal("offered twice")
	}
	c.want("not allowed yet", c.delivered("a"))
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 2})
	c.want("delivered", c.delivered("a"), "1", "2")
	if o := c.offer(); o.Messages != 2 {
		t.Fatalf("%+v", o)
	}
}

func TestOfferUnused(t *testing.T) {
	c := offering(t, 0)
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 5})
	if u := one[*mail.QosUnused](c); u.Messages != 1 || u.Queue != queuePID {
		t.Fatalf("%+v", u)
	}
}

// TestOfferInAdvance_TTL20: a message with TTL 0 can be delivered under a global limit, too, because the channel allows one
// message in advance.
func TestOfferInAdvance_TTL20(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 2, limited)
	asked := func() {
		t.Helper()
		if o := one[*mail.QosOffer](c); o.Messages != 0 {
			t.Fatalf("%+v", o)
		}
	}
	now := func(body string) { c.publish(msg(body, 0)) }
	asked()
	now("too early")
	c.want("not allowed yet", c.delivered("a"))
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 1})
	now("1")
	c.want("at once", c.delivered("a"), "1")
	asked()
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 1}, &mail.QosReclaim{Channel: ch1})
	if u := one[*mail.QosUnused](c); u.Messages != 1 {
		t.Fatalf("%+v", u)
	}
	asked()
	now("needed elsewhere")
	c.want("taken back", c.delivered("a"))
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 1})
	now("2")
	c.want("at once again", c.delivered("a"), "2")
	if n := len(all[*mail.QosOffer](c)); n != 0 {
		t.Fatal("asked without room")
	}
}

// A channel asked for one message in advance gets an offer when messages wait.
func TestOfferOutweighsAdvance(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 0, limited)
	c.put("1", "2")
	if all := all[*mail.QosOffer](c); len(all) != 2 || all[0].Messages != 0 || all[1].Messages != 2 {
		t.Fatalf("%+v", all)
	}
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 1}, &mail.QosReclaim{Channel: ch1}, &mail.QosReclaim{Channel: other})
	c.want("what was used is used", c.delivered("a"), "1")
	if n := len(all[*mail.QosUnused](c)); n != 0 {
		t.Fatal("returned what was used")
	}
}

// offers takes the offers of waiting messages.
func (c *core) offers() (offers []*mail.QosOffer) {
	for _, o := range all[*mail.QosOffer](c) {
		if o.Messages > 0 {
			offers = append(offers, o)
		}
	}
	return offers
}

func (c *core) offer() *mail.QosOffer {
	c.t.Helper()
	offers := c.offers()
	if len(offers) != 1 {
		c.t.Fatalf("%d offers, want one", len(offers))
	}
	return offers[0]
}

func TestOfferWithinPrefetch(t *testing.T) {
	c := offering(t, 2)
	if o := c.offer(); o.Messages != 2 {
		t.Fatalf("%+v", o)
	}
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 2})
	c.want("delivered", c.delivered("a"), "1", "2")
	if n := len(c.offers()); n != 0 {
		t.Fatal("offered to one that is full")
	}
	c.settle(ch1, mail.Ack, 1, 1)
	if o := c.offer(); o.Messages != 1 {
		t.Fatalf("%+v", o)
	}
}

func TestOfferCancelled(t *testing.T) {
	c := stalled(t)
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
	if u := one[*mail.QosUnused](c); u.Messages != 1 {
		t.Fatalf("%+v", u)
	}
	c.feed(&mail.QosAllow{Channel: ch1, Messages: 4})
	if u := one[*mail.QosUnused](c); u.Messages != 4 {
		t.Fatalf("%+v", u)
	}
}

func TestOfferQueueEnds(t *testing.T) {
	c := stalled(t)
	c.feed(&mail.DeleteQueue{}, &mail.QueueForgotten{})
	if u := one[*mail.QosUnused](c); u.Messages != 1 {
		t.Fatalf("%+v", u)
	}
}

func TestResize(t *testing.T) {
	c := newCore(t)
	c.put(bodies(1, 10)...)
	c.consume(ch1, "a", 2)
	c.consume(ch2, "other", 1)
	c.consume(ch1, "free", 0, noAck)
	c.want("all of them", c.delivered("a"), "1", "2")
	c.delivered("other")
	c.delivered("free")
	c.feed(&mail.SetPrefetch{Channel: ch1, Prefetch: 4})
	c.put(bodies(11, 20)...)
	if n := len(c.delivered("a")); n != 2 {
		t.Error("raised:", n)
	}
	c.want("not its", c.delivered("other"))
	if len(c.delivered("free")) != 8 {
		t.Error("without acknowledgements there is no prefetch")
	}
	c.lowered = 4
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "free"}, &mail.SetPrefetch{Channel: ch1, Prefetch: 1})
	c.put("x", "y")
	c.settle(ch1, mail.Ack, 1, 3)
	c.want("lowered", c.delivered("a"))
	c.feed(&mail.SetPrefetch{Channel: other, Prefetch: 9}, &mail.SetPrefetch{Channel: ch1})
	c.want("removed", c.delivered("a"), "x", "y")
}

func TestOfferLimitLifted(t *testing.T) {
	c := offering(t, 0)
	c.feed(&mail.QosLimited{Channel: ch1})
	c.want("delivered", c.delivered("a"), "1", "2", "3")
	c.feed(&mail.QosLimited{Channel: ch1, On: true}, &mail.QosLimited{Channel: ch2, On: true})
	all[*mail.QosOffer](c)
	c.put("4")
	c.want("limited again", c.delivered("a"))
	c.offer()
}

func TestOfferNoAck(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 0, limited, noAck)
	c.put("1")
	c.want("delivered", c.delivered("a"), "1")
}

// TestChannelGone_LEASE4: a channel's end detaches its consumers, and its deliveries go to other consumers.
func TestChannelGone_LEASE4(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 2)
	c.put(bodies(1, 4)...)
	c.consume(ch2, "b", 0)
	c.want("a", c.delivered("a"), "1", "2")
	c.want("b", c.delivered("b"), "3", "4")
	c.feed(&mail.ChannelGone{Channel: ch1}, &mail.PeerGone{Who: ch1})
	c.want("b", c.delivered("b"), "1*", "2*")
	if c.consumers.Len() != 1 || c.openChannels() != 1 {
		t.Fatalf("%d consumers, %d channels", c.consumers.Len(), c.openChannels())
	}
}

func single(s *policies.QueueSettings) { s.SingleActiveConsumer = true }

// TestSingleActive_DEC11_TTL20: the first consumer gets all messages until it leaves.
func TestSingleActive_DEC11_TTL20(t *testing.T) {
	c := newCore(t, single, dlx)
	for _, tag := range []string{"a", "b", "c"} {
		c.consume(ch1, tag, 2)
	}
	c.put(bodies(1, 3)...)
	c.publish(msg("now or never", 0))
	c.want("a", c.delivered("a"), "1", "2")
	c.want("b", c.delivered("b"))
	c.want("the active one is full", c.seenOff(), "expired now or never")
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "b"})
	c.want("nobody", c.delivered("c"))
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
	c.want("c is next", c.delivered("c"), "3")
	c.consume(ch2, "d", 0)
	c.put("4", "5")
	c.want("c", c.delivered("c"), "4")
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.want("d", c.delivered("d"), "1*", "2*", "3*", "4*", "5")
}

func TestSingleActiveOffers_DEC11(t *testing.T) {
	c := newCore(t, single)
	c.consume(ch1, "a", 0, limited)
	c.consume(ch2, "b", 0, limited)
	c.put("1")
	c.wantOffers(ch1)
	c.feed(&mail.PeerGone{Who: ch1})
	c.wantOffers(ch2)
}
