package consumers

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/outbox"
	"candlemark/internal/seqmap"
	"candlemark/protocol"
)

// What a consumer may have under way between the queue and its connection's
// outbox, besides its prefetch (PRO-8): the channel gives it back as it
// writes, so that a stalled socket holds this much and no more.
const (
	WindowMessages = 8192
	WindowBytes    = 2 << 20
)

// Channel is a channel as the queue sees it: it consumes, or holds messages.
type Channel struct {
	Address   mail.Address
	Unacked   seqmap.Map[Delivery] // by the delivery number told to the channel
	consumers []*Consumer
	allowed   int   // what the channel allowed its limited consumers under their common limit
	offered   offer // what is open
	Claims    bool  // it is a move's, which takes messages without consuming
}

// Consuming reports whether it has consumers.
func (h *Channel) Consuming() bool { return len(h.consumers) > 0 }

// Delivery is an unacknowledged delivery of the message with that handle, made at Since, in s since 1970. Consumer
// is nil for basic.get.
type Delivery struct {
	Message  uint32
	Since    uint32
	Consumer *Consumer
}

// Consumer is one consumer. The exported fields are set before Attach.
type Consumer struct {
	Channel   *Channel
	Tag       string
	NoAck     bool
	Limited   bool // by the channel's common limit
	Credited  bool // by a credit of its own
	Facts     bool // it is told them
	Stays     bool // it is not cancelled when it does not settle in time
	Session   bool // it locks a session, and is given messages only while Run says so
	Reading   bool // contents are read for it, so its session is not empty
	runs      bool
	draining  bool // what is left of the credit is given up when nothing is ready
	Arguments protocol.Table
	// Connection is that of the channel, Link the name of the consumer's link; of sessions.
	Connection mail.Address
	Link       string
	Prefetch   int   // 0: any number
	Priority   int64 // x-priority
	Timeout    int64 // x-consumer-timeout in ms, -1 for none
	unacked    int
	credit     int32  // messages that it may still be given, if it is Credited
	delivered  uint32 // to it, with the credit that was given up: the delivery-count of its link
	messages   int    // under way
	bytes      int
	gone       bool
	deliver    *mail.Deliver // gathered in this turn
	ring       *ring         // of its priority
	// neighbours in the ring; nil when it is not in it
	next, prev *Consumer
}

// Gone reports whether it was detached.
func (c *Consumer) Gone() bool { return c.gone }

// Holds is how many deliveries it has not settled.
func (c *Consumer) Holds() int { return c.unacked }

func (c *Consumer) canTake() bool {
	return !c.gone && (!c.Session || c.runs) && (c.Prefetch == 0 || c.unacked < c.Prefetch) &&
		c.messages < WindowMessages && c.bytes < WindowBytes && (!c.Limited || c.Channel.allowed > 0) && (!c.Credited || c.credit > 0)
}

// room is how many more messages the prefetch allows.
func (c *Consumer) room() int {
	if c.Prefetch == 0 {
		return WindowMessages
	}
	return c.Prefetch - c.unacked
}

// Set is all consumers of a queue, and its channels.
type Set struct {
	out          *outbox.Outbox
	queue        mail.Address
	singleActive bool // x-single-active-consumer
	takeover     bool // a higher priority takes over
	paused       bool // nobody is given anything
	channels     map[string]*Channel
	count        int
	unacked      int
	roundRobin   roundRobin // of those who can take a message
	exclusive    *Consumer
	waiting      []*Consumer // with a single active consumer: all, in the order of succession
	active       *Consumer   // the single active one, nil if there is none
	touched      []*Consumer
	limited      []*Consumer // those subject to their channel's common limit
	draining     []*Consumer // those that are to give up their credit
	drained      []*Consumer // that have, in this turn
	left         []*Consumer // those of sessions that were detached and may hold something
}

// New makes an empty set of a queue. singleActive: one consumer at a time gets the
// messages (DEC-11); takeover: that one makes way for a higher priority.
func New(out *outbox.Outbox, queue mail.Address, singleActive, takeover bool) Set {
	return Set{out: out, queue: queue, singleActive: singleActive, takeover: takeover}
}

// Len is the number of consumers.
func (s *Set) Len() int { return s.count }

// Channelless reports whether no channel consumes, or holds messages, or has numbers of deliveries.
func (s *Set) Channelless() bool { return len(s.channels) == 0 }

// Unacked is the number of unacknowledged deliveries.
func (s *Set) Unacked() int { return s.unacked }

// Exclusive is the consumer that has the queue for itself, nil if there is none.
func (s *Set) Exclusive() *Consumer { return s.exclusive }

// InUse reports whether a further consumer, exclusive or not, is refused.
func (s *Set) InUse(exclusive bool) bool {
	return s.exclusive != nil || exclusive && (s.count > 0 || s.singleActive)
}

// Channel is a channel that consumes or holds messages, nil if it does not.
func (s *Set) Channel(channel mail.Address) *Channel { return s.channels[channel.Id] }

// Open finds or makes the view of a channel, and reports whether it is new.
func (s *Set) Open(channel mail.Address) (h *Channel, made bool) {
	if h = s.channels[channel.Id]; h != nil {
		return h, false
	}
	h = &Channel{Address: channel}
	if s.channels == nil {
		s.channels = map[string]*Channel{}
	}
	s.channels[channel.Id] = h
	return h, true
}

// Close forgets a channel without consumers and deliveries.
func (s *Set) Close(channel mail.Address) { delete(s.channels, channel.Id) }

// Channels calls f for each channel, in no order.
func (s *Set) Channels(f func(*Channel)) {
	for _, h := range s.channels {
		f(h)
	}
}

// Consumers calls f for each consumer, those of a channel in the order in which they came.
func (s *Set) Consumers(f func(*Consumer)) {
	for _, h := range s.channels {
		for _, c := range h.consumers {
			f(c)
		}
	}
}

// Find is the consumer of a channel with that tag, nil if there is none.
func (s *Set) Find(channel mail.Address, tag string) *Consumer {
	if h := s.channels[channel.Id]; h != nil {
		for _, c := range h.consumers {
			if c.Tag == tag {
				return c
			}
		}
	}
	return nil
}

// Attach adds a consumer.
func (s *Set) Attach(c *Consumer, exclusive bool) {
	c.ring = s.roundRobin.join(c.Priority)
	c.Channel.consumers = append(c.Channel.consumers, c)
	if exclusive {
		s.exclusive = c
	}
	if c.Limited {
		s.putUnderLimit(c)
	}
	s.count++
	s.addWaiting(c)
	s.refresh(c)
}

// putUnderLimit makes c one of those whose channels are offered messages, behind
// those of its priority and above.
func (s *Set) putUnderLimit(c *Consumer) {
	at := slices.IndexFunc(s.limited, func(x *Consumer) bool { return x.Priority < c.Priority })
	if at < 0 {
		at = len(s.limited)
	}
	s.limited = slices.Insert(s.limited, at, c)
}

// Cancel detaches a consumer, and returns what its channel allowed.
func (s *Set) Cancel(c *Consumer) {
	s.disallow(c.Channel, 0)
	s.detach(c)
}

// DetachAll detaches the consumers of a channel that is gone, and returns how many they were.
func (s *Set) DetachAll(h *Channel) (n int) {
	for ; len(h.consumers) > 0; n++ {
		s.detach(h.consumers[0])
	}
	return n
}

// detach takes a consumer away; what it holds stays with its channel.
func (s *Set) detach(c *Consumer) {
	c.gone = true
	if c.Session {
		s.left = append(s.left, c)
	}
	s.refresh(c)
	c.Channel.consumers = without(c.Channel.consumers, c)
	s.limited = without(s.limited, c)
	if !slices.ContainsFunc(c.Channel.consumers, func(x *Consumer) bool { return x.Limited }) {
		c.Channel.offered = noOffer // the channel forgets it, too
	}
	if s.exclusive == c {
		s.exclusive = nil
	}
	s.removeWaiting(c)
	s.roundRobin.leave(c.ring)
	s.count--
}

// Run has the consumer of a session take part or not.
func (s *Set) Run(c *Consumer, can bool) {
	if c.runs != can {
		c.runs = can
		s.refresh(c)
	}
}

// Left takes the consumers of sessions that were detached and hold nothing any more.
func (s *Set) Left(f func(*Consumer)) {
	if len(s.left) == 0 {
		return
	}
	s.left = slices.DeleteFunc(s.left, func(c *Consumer) bool {
		if c.unacked == 0 {
			f(c)
		}
		return c.unacked == 0
	})
}

func without(list []*Consumer, c *Consumer) []*Consumer {
	for i, x := range list {
		if x == c {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}
