package consumers

import (
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/seqmap"
	"candlemark/protocol"
)

// Limits of the messages and bytes under way from the queue to the outbox of the consumer's connection, besides its
// prefetch (PRO-8): the channel returns this window as it writes, so a stalled socket holds no more than this.
const (
	WindowMessages = 8192
	WindowBytes    = 2 << 20
)

// Holder is the queue's record of a channel that consumes or holds messages.
type Holder struct {
	Address   mail.Address
	Unacked   seqmap.Map[ChannelDelivery] // by delivery number
	consumers []*Consumer
	allowed   int         // number of messages that the channel allows its limited consumers to get
	offered   offer       // the open offer
	Claims    bool        // of a move, which takes messages without consuming
	crowded   []*Consumer // consumers that wait until their client has read
	waits     bool        // mail.UnreadRoom will come
}

// Consuming reports whether the channel has consumers.
func (h *Holder) Consuming() bool { return len(h.consumers) > 0 }

// ChannelDelivery is an unacked delivery of a message, made at Since. Consumer is nil for basic.get.
type ChannelDelivery struct {
	Message  uint32
	Since    Moment
	Consumer *Consumer
}

// Consumer is one consumer. The exported fields are set before Attach.
type Consumer struct {
	Channel        *Holder
	Tag            string
	NoAck          bool
	Limited        bool // subject to the channel's common limit
	Credited       bool // has a link credit
	WantsFacts     bool // its deliveries carry Facts
	KeepsOnTimeout bool // is not cancelled by a consumer timeout
	Session        bool // locks a session, and gets messages only while Run allows it
	ContentPending bool // its contents are being read, so its session is not treated as empty
	mayRun         bool
	needsAllowance bool // is in Consumers.asking
	draining       bool // gives up the rest of its credit when nothing is ready
	Arguments      protocol.Table
	// Unread is charged with its deliveries; nil for no limit.
	Unread *budget.Part
	// Connection of the channel and Link name; for sessions.
	Connection mail.Address
	Link       string
	Prefetch   int   // 0 for no limit
	Priority   int64 // x-priority
	Timeout    int64 // x-consumer-timeout in ms, -1 for none
	unacked    int
	credit     int32  // number of messages that it may still get, if Credited
	delivered  uint32 // delivery-count of its link, including drained credit
	messages   int    // in its window
	bytes      int
	owed       int  // bytes that Unread is not charged with yet
	crowded    bool // waits until its client has read
	gone       bool
	stopped    bool          // gets no more messages
	deliver    *mail.Deliver // collected in this turn
	ring       *ring         // the ring of its priority
	// neighbours in the ring; nil when it is not in it
	next, prev *Consumer
}

// Gone reports whether the consumer was detached.
func (c *Consumer) Gone() bool { return c.gone }

// Stopped reports whether Stop was called for the consumer.
func (c *Consumer) Stopped() bool { return c.stopped }

// Holds returns the number of its unacked deliveries.
func (c *Consumer) Holds() int { return c.unacked }

func (c *Consumer) canTake() bool {
	return !c.gone && !c.stopped && !c.crowded && (!c.Session || c.mayRun) && (c.Prefetch == 0 || c.unacked < c.Prefetch) &&
		c.messages < WindowMessages && c.bytes < WindowBytes && (!c.Limited || c.Channel.allowed > 0) && (!c.Credited || c.credit > 0)
}

// room returns how many more messages the prefetch allows.
func (c *Consumer) room() int {
	if c.Prefetch == 0 {
		return WindowMessages
	}
	return c.Prefetch - c.unacked
}

// Consumers holds the consumers of a queue, and its channels.
type Consumers struct {
	out          *mail.Posts
	queue        mail.Address
	post         func(to mail.Address, what any)
	singleActive bool  // the queue has x-single-active-consumer
	takeover     bool  // by a consumer of higher priority
	paused       Pause // why no consumer gets messages, 0 if they do
	channels     map[string]*Holder
	count        int
	unacked      int
	roundRobin   roundRobin // consumers that can take a message
	exclusive    *Consumer
	waiting      []*Consumer // with a single active consumer: all, in order of succession
	active       *Consumer   // the single active consumer, nil if there is none
	touched      []*Consumer
	limited      []*Consumer // consumers subject to their channel's common limit
	draining     []*Consumer // consumers to be drained
	drained      []*Consumer // consumers drained in this turn
	asking       []*Consumer // consumers to be sent their queue's number of ready messages
	ready        int         // the number for asking, at the end of the turn
	left         []*Consumer // detached consumers of sessions that may have unacked deliveries
}

// New returns the empty set of a queue. post sends mail from any goroutine. singleActive: one consumer at a time gets
// messages (DEC-11); takeover: a consumer of higher priority replaces it.
func New(out *mail.Posts, queue mail.Address, post func(to mail.Address, what any), singleActive, takeover bool) Consumers {
	return Consumers{out: out, queue: queue, post: post, singleActive: singleActive, takeover: takeover}
}

// Len returns the number of consumers.
func (s *Consumers) Len() int { return s.count }

// Channelless reports whether no channel consumes, holds messages, or has numbers of deliveries.
func (s *Consumers) Channelless() bool { return len(s.channels) == 0 }

// Unacked returns the number of unacked deliveries.
func (s *Consumers) Unacked() int { return s.unacked }

// Exclusive returns the exclusive consumer, nil if there is none.
func (s *Consumers) Exclusive() *Consumer { return s.exclusive }

// InUse reports whether another consumer, exclusive or not, has to be refused.
func (s *Consumers) InUse(exclusive bool) bool {
	return s.exclusive != nil || exclusive && (s.count > 0 || s.singleActive)
}

// Channel returns a channel that consumes or holds messages, nil if it does neither.
func (s *Consumers) Channel(channel mail.Address) *Holder { return s.channels[channel.GetId()] }

// Open returns the record of a channel, and whether it was created.
func (s *Consumers) Open(channel mail.Address) (h *Holder, made bool) {
	if h = s.channels[channel.GetId()]; h != nil {
		return h, false
	}
	h = &Holder{Address: channel}
	if s.channels == nil {
		s.channels = map[string]*Holder{}
	}
	s.channels[channel.GetId()] = h
	return h, true
}

// Close removes a channel, which must have no consumers and deliveries.
func (s *Consumers) Close(channel mail.Address) { delete(s.channels, channel.GetId()) }

// Channels calls f for each channel, in no order.
func (s *Consumers) Channels(f func(*Holder)) {
	for _, h := range s.channels {
		f(h)
	}
}

// Consumers calls f for each consumer, with the consumers of one channel in the order of attachment.
func (s *Consumers) Consumers(f func(*Consumer)) {
	for _, h := range s.channels {
		for _, c := range h.consumers {
			f(c)
		}
	}
}

// Find returns the consumer of a channel with the given tag, nil if there is none.
func (s *Consumers) Find(channel mail.Address, tag string) *Consumer {
	if h := s.channels[channel.GetId()]; h != nil {
		for _, c := range h.consumers {
			if c.Tag == tag {
				return c
			}
		}
	}
	return nil
}

// Attach adds a consumer.
func (s *Consumers) Attach(c *Consumer, exclusive bool) {
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

// putUnderLimit adds c to the consumers whose channels get offers, after consumers of the same or a higher priority.
func (s *Consumers) putUnderLimit(c *Consumer) {
	at := slices.IndexFunc(s.limited, func(x *Consumer) bool { return x.Priority < c.Priority })
	if at < 0 {
		at = len(s.limited)
	}
	s.limited = slices.Insert(s.limited, at, c)
}

// Cancel detaches a consumer, and returns unused allowance to its channel.
func (s *Consumers) Cancel(c *Consumer) {
	s.disallow(c.Channel, 0)
	s.detach(c)
}

// Stop ends deliveries to a consumer that its channel is about to cancel. It stays the active consumer.
func (s *Consumers) Stop(c *Consumer) {
	c.stopped = true
	s.refresh(c)
}

// DetachAll detaches the consumers of a channel that has ended, and returns their number.
func (s *Consumers) DetachAll(h *Holder) (n int) {
	for ; len(h.consumers) > 0; n++ {
		s.detach(h.consumers[0])
	}
	return n
}

// detach removes a consumer; its unacked deliveries stay with its channel.
func (s *Consumers) detach(c *Consumer) {
	c.gone = true
	if c.Session {
		s.left = append(s.left, c)
	}
	s.refresh(c)
	c.Channel.consumers = without(c.Channel.consumers, c)
	c.Channel.crowded = without(c.Channel.crowded, c)
	s.limited = without(s.limited, c)
	if !slices.ContainsFunc(c.Channel.consumers, func(x *Consumer) bool { return x.Limited }) {
		c.Channel.offered = noOffer // the channel drops it, too
	}
	if s.exclusive == c {
		s.exclusive = nil
	}
	s.removeWaiting(c)
	s.roundRobin.leave(c.ring)
	s.count--
}

// Run sets whether the consumer of a session can get messages.
func (s *Consumers) Run(c *Consumer, can bool) {
	if c.mayRun != can {
		c.mayRun = can
		s.refresh(c)
	}
}

// Left calls f for detached consumers of sessions without unacked deliveries, and forgets them.
func (s *Consumers) Left(f func(*Consumer)) {
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
