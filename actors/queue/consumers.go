package queue

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/internal/clock"
	"candlemark/internal/seqmap"
	"candlemark/policies"
	"candlemark/protocol"
)

// What a consumer may have under way between the queue and its connection's
// outbox, besides its prefetch (PRO-8): the channel gives it back as it
// writes, so that a stalled socket holds this much and no more.
const (
	windowMessages = 8192
	windowBytes    = 2 << 20
)

// consumerChannel is a channel as the queue sees it: it consumes, or holds messages.
type consumerChannel struct {
	address   mail.Address
	consumers []*consumer
	unacked   seqmap.Map[unackedDelivery] // by the delivery number told to the channel
	allowed   int                         // what the channel allowed its limited consumers under their common limit
	offered   offer                       // what is open
}

// unackedDelivery is an unacknowledged delivery, made at since, in s since 1970; consumer is nil
// for basic.get.
type unackedDelivery struct {
	message  uint32
	since    uint32
	consumer *consumer
}

// offer is what a queue has asked a channel for under its common limit.
type offer uint8

const (
	noOffer   offer = iota
	inAdvance       // room for one message, should one come
	forReady        // room for messages that are there
)

type consumer struct {
	channel   *consumerChannel
	tag       string
	noAck     bool
	arguments protocol.Table
	prefetch  int // 0: any number
	unacked   int
	messages  int // under way
	bytes     int
	limited   bool // by the channel's common limit
	gone      bool
	deliver   *mail.Deliver // gathered in this turn
	priority  int64         // x-priority
	timeout   int64         // x-consumer-timeout in ms, -1 for none
	ring      *ring         // of its priority
	// neighbours in the ring; nil when it is not in it
	next, prev *consumer
}

func (c *consumer) canTake() bool {
	return !c.gone && (c.prefetch == 0 || c.unacked < c.prefetch) &&
		c.messages < windowMessages && c.bytes < windowBytes && (!c.limited || c.channel.allowed > 0)
}

// room is how many more messages the prefetch allows.
func (c *consumer) room() int {
	if c.prefetch == 0 {
		return windowMessages
	}
	return c.prefetch - c.unacked
}

// channel finds or makes the queue's view of a channel, which is watched from
// then on.
func (s *state) channel(channel mail.Address) *consumerChannel {
	h := s.channels[channel.Id]
	if h == nil {
		h = &consumerChannel{address: channel}
		if s.channels == nil {
			s.channels = map[string]*consumerChannel{}
		}
		s.channels[channel.Id] = h
		s.out.watch = append(s.out.watch, channel)
	}
	return h
}

func (s *state) find(channel mail.Address, tag string) *consumer {
	if h := s.channels[channel.Id]; h != nil {
		for _, c := range h.consumers {
			if c.tag == tag {
				return c
			}
		}
	}
	return nil
}

// consume attaches a consumer. It holds the lease until it leaves (LEASE-4).
func (s *state) consume(m *mail.Consume) {
	reply := &mail.ConsumeReply{Reply: m.Done(nil), Queue: s.self, Tag: m.Tag}
	if err := s.access(m.Connection); err != nil {
		reply.Err = err
	} else if err := policies.ValidateConsumerArguments(s.queue.Name, s.vhost.Name, policies.KindOf(s.queue.Arguments), m.Arguments); err != nil {
		reply.Err = err
	} else if s.exclusive != nil || m.Exclusive && (s.consumers > 0 || s.settings.SingleActiveConsumer) {
		reply.Err = protocol.ChannelErrorf(protocol.AccessRefused, "queue '%s' in vhost '%s' in exclusive use", s.queue.Name, s.vhost.Name)
	}
	s.send(m.ReplyTo, reply)
	if reply.Err != nil {
		return
	}
	h := s.channel(m.Channel)
	own := policies.ConsumerSettingsFor(m.Arguments)
	c := &consumer{
		channel: h, tag: m.Tag, noAck: m.NoAck, prefetch: m.Prefetch, limited: m.Limited && !m.NoAck,
		arguments: m.Arguments, priority: own.Priority, timeout: own.Timeout,
	}
	c.ring = s.roundRobin.join(c.priority)
	if m.NoAck {
		c.prefetch = 0
	}
	h.consumers = append(h.consumers, c)
	if m.Exclusive {
		s.exclusive = c
	}
	if c.limited {
		s.putUnderLimit(c)
	}
	s.consumers++
	s.lease.Hold()
	s.addWaiting(c)
	s.refresh(c)
}

// putUnderLimit makes c one of those whose channels are offered messages, behind
// those of its priority and above.
func (s *state) putUnderLimit(c *consumer) {
	at := slices.IndexFunc(s.limited, func(x *consumer) bool { return x.priority < c.priority })
	if at < 0 {
		at = len(s.limited)
	}
	s.limited = slices.Insert(s.limited, at, c)
}

// cancel detaches one; what it holds stays with its channel.
func (s *state) cancel(m *mail.CancelConsumer, now clock.Instant) {
	c := s.find(m.Channel, m.Tag)
	if c != nil {
		s.disallow(c.channel, 0)
		s.detach(c, now)
	}
	s.send(m.ReplyTo, &mail.CancelConsumerReply{Reply: m.Done(nil), Tag: m.Tag})
}

func (s *state) detach(c *consumer, now clock.Instant) {
	c.gone = true
	s.refresh(c)
	c.channel.consumers = without(c.channel.consumers, c)
	s.limited = without(s.limited, c)
	if !slices.ContainsFunc(c.channel.consumers, func(x *consumer) bool { return x.limited }) {
		c.channel.offered = noOffer // the channel forgets it, too
	}
	if s.exclusive == c {
		s.exclusive = nil
	}
	s.removeWaiting(c)
	s.roundRobin.leave(c.ring)
	s.consumers--
	s.consumerLeft = true
	s.lease.Release(now.Ceil())
}

// channelGone detaches all consumers of a channel and returns what it held to
// its position. Having held an unacknowledged basic.get counts as a use
// (LEASE-4).
func (s *state) channelGone(channel mail.Address, now clock.Instant) {
	s.paging.gets = slices.DeleteFunc(s.paging.gets, func(g *mail.Get) bool { return g.Channel.Equal(channel) })
	h := s.channels[channel.Id]
	if h == nil {
		return
	}
	for len(h.consumers) > 0 {
		s.detach(h.consumers[0], now)
	}
	if h.unacked.Len() > 0 {
		s.lease.Renew(now.Ceil())
	}
	next := uint64(1)
	s.startWork(&work{
		expires: true,
		step: func(now clock.Instant) bool {
			next = h.unacked.TakeSome(next, h.unacked.Last(), int(s.turnMost), func(_ uint64, u unackedDelivery) { s.requeue(u, now) })
			return next == 0
		},
		end: func(clock.Instant) { delete(s.channels, channel.Id) },
	}, now)
}

func without(list []*consumer, c *consumer) []*consumer {
	for i, x := range list {
		if x == c {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}
