package mail

import (
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// Enqueue carries all messages of one batch for one queue, in order. Sent by a channel or the dead-letter actor;
// EnqueueReply comes back for messages with a Number. The receiver calls Release exactly once.
type Enqueue struct {
	From Address
	// Queue is the receiver, for an answer by another actor; nil if the sender does not need it.
	Queue    Address
	Messages []message.Message
	// Table is the Table of the receiver's topology.Queue.
	Table uint64
	// Action is the Action of the topology.Queue: the receiver applies it to its copies of the messages (SBR-6).
	Action *filter.Action
	// Chunk is retained for the queue; nil if no message refers to one.
	Chunk *message.Chunk
	// Debt is the credit of reassembled bodies.
	Debt message.Charge
	// Copies counts the messages that were published to several queues.
	Copies message.Transit
	// Numbered requests the queue's numbers of the messages (EnqueueReply.Seqs).
	Numbered bool
	// AllOrNone makes a queue take all messages or none (DL-10).
	AllOrNone bool
	// Moved: the messages come from a queue, perhaps from the receiver, and are never duplicates (DUP-1).
	Moved bool
	// Prepared: the queue has accepted the messages in advance (PrepareWork), so none exceeds its limits.
	Prepared bool
	// Origins has, for each of Messages, the number of the stored message of which it is a copy, in the queue with the
	// incarnation Origin, 0 for none; nil if there are none. That queue removes it when all its copies have arrived.
	Origin  uint64
	Origins []uint64
	// Runs has, for each of Messages, the run of a schedule that it is; nil if there are none.
	Runs []Run
	// By is the publisher, set only if the receiver is the actor of admin commands.
	By *Publisher
}

// Publisher is the publisher of an Enqueue on its channel.
type Publisher struct {
	User       string
	Tags       []string // tags of the user
	Connection Address  // connection of the channel
	Origin     *events.Origin
}

// Release returns the batch's credit to the connection from which it came, and its slice to the pool. Afterwards the
// messages are invalid. A second call does nothing.
func (e *Enqueue) Release() {
	e.Chunk.Release()
	e.Chunk = nil
	e.Debt.Release()
	e.Copies.End()
	recycle(&messagePool, e.Messages)
	e.Messages = nil
}

// DetachCredit removes the batch's credit from it, so that the messages can be released first. The caller has to
// release the chunk and settle the debt.
func (e *Enqueue) DetachCredit() (*message.Chunk, message.Charge) {
	chunk, debt := e.Chunk, e.Debt
	e.Chunk, e.Debt = nil, message.Charge{}
	return chunk, debt
}

// Answer implements Answerable: a queue that has ended counts as having taken and discarded the batch (LEASE-7, PRO-2);
// a queue that failed or is down refuses it.
func (e *Enqueue) Answer(f Cause) (Address, any) {
	reply := &EnqueueReply{Queue: e.Queue, Refused: f != Gone, Failed: f == Failed || f == Unseen}
	for i := range e.Messages {
		reply.Add(e.Messages[i].Number)
	}
	e.Release()
	if len(reply.Ranges) == 0 {
		return nil, nil
	}
	return e.From, reply
}

// Consume attaches a consumer. From a channel; ConsumeReply comes back before
// the first Deliver.
type Consume struct {
	Request
	Channel   Address
	Tag       string
	NoAck     bool
	Exclusive bool
	// Prefetch is the consumer's limit of unacked deliveries, 0 for none.
	Prefetch  int
	Arguments protocol.Table
	// Limited: the channel has one limit for all its consumers: the queue offers and the channel allows (PRO-8).
	Limited bool
	// Credited: the consumer gets messages only as far as Credit allows.
	Credited bool
	// Facts requests the Facts of its deliveries.
	Facts bool
	// Stays: the consumer is not cancelled if it does not settle in time (LOCK-4).
	Stays bool
	// Session names the session to lock, in a queue with sessions (SESSION-3). ConsumeReply may then take a long time.
	Session *SessionRequest
	// Connection is the channel's connection, for exclusive queues (DEC-5).
	Connection Address
	// Unread is charged with the deliveries, which wait in the queue while it has no room; nil for no limit (PRO-8).
	Unread *budget.Part
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (c *Consume) Answer(f Cause) (Address, any) {
	return c.ReplyTo, &ConsumeReply{Reply: c.Done(missed(f, c.Queue, c.VHost)), Tag: c.Tag}
}

// CancelConsumer detaches a consumer; its deliveries stay with the channel, unless it wants them requeued.
// From a channel; CancelConsumerReply comes back after its last Deliver.
type CancelConsumer struct {
	Request
	Channel Address
	Tag     string
	// Requeue makes the queue requeue the consumer's unacked deliveries, including deliveries under way, before it
	// delivers again (LOCK-9). Except are the numbers, ascending, of deliveries that stay with the channel.
	Requeue bool
	Except  []uint64
}

// Answer implements Answerable: a consumer of a queue that has ended is cancelled.
func (c *CancelConsumer) Answer(Cause) (Address, any) {
	return c.ReplyTo, &CancelConsumerReply{Reply: c.Done(nil), Tag: c.Tag}
}

// ReturnWindow returns part of a consumer's window: the messages and content bytes that the channel has passed to its
// connection's outbox. From a channel, in batches; no reply (PRO-8).
type ReturnWindow struct {
	Channel  Address
	Tag      string
	Messages int
	Bytes    int
}

// UnreadRoom: the client of a channel has read so much that its waiting consumers may get messages again (PRO-20). From
// any goroutine; no reply.
type UnreadRoom struct{ Channel Address }

// SetLinkCredit sets the link credit of a consumer that is Credited: how many more messages it may get after DeliveryCount
// of them, counted from 0 and modulo 2^32 as in AMQP 1.0. From a channel; no reply except, with Echo or Drain, CreditTaken.
type SetLinkCredit struct {
	Channel       Address
	Tag           string
	DeliveryCount uint32
	Credit        uint32
	// Drain makes the queue deliver its ready messages, and then use up the rest of the credit.
	Drain bool
	Echo  bool
}

// QosAllow answers Offer: the queue may send the channel's consumers the given number of further messages. From the
// channel, possibly long after the offer.
type QosAllow struct {
	Queue    Address
	Channel  Address
	Messages int
}

// Answer implements Answerable: a queue that has ended returns the whole allowance.
func (a *QosAllow) Answer(Cause) (Address, any) {
	return a.Channel, &QosUnused{Queue: a.Queue, Messages: a.Messages}
}

// QosReclaim asks for the part of the allowance that the queue has not used, because another queue has messages, and the
// channel's limit leaves no other room. From the channel; Unused comes back.
type QosReclaim struct {
	Channel Address
}

// QosLimited informs a queue whether its consumers of a channel are now subject to the channel's common limit. From the
// channel; no reply.
type QosLimited struct {
	Channel Address
	On      bool
}

// SetPrefetch sets the prefetch of all consumers of a channel at a queue. From the channel, for clients that expect this
// effect of basic.qos; no reply.
type SetPrefetch struct {
	Channel  Address
	Prefetch int // 0 for no limit
}

// ChannelGone: the channel ended; its consumers are detached and its unacked messages requeued at their positions. From
// the channel if it ends normally; otherwise the queue's watch reports the end.
type ChannelGone struct{ Channel Address }

// Get asks for one message. From a channel; GetReply comes back.
type Get struct {
	Request
	Channel    Address
	NoAck      bool
	Facts      bool // requests the Facts of the delivery
	Connection Address
	// Unread must have room for the message, and is charged with it; nil for no limit.
	Unread       *budget.Part
	Queue, VHost string
}

// Answer implements Answerable.
func (g *Get) Answer(f Cause) (Address, any) {
	return g.ReplyTo, &GetReply{Reply: g.Done(missed(f, g.Queue, g.VHost))}
}

// Purge drops all ready messages, without dead-lettering (DL-9). From a channel; PurgeReply comes back.
type Purge struct {
	Request
	Connection   Address
	Queue, VHost string
}

// Answer implements Answerable.
func (p *Purge) Answer(f Cause) (Address, any) {
	return p.ReplyTo, &PurgeReply{Reply: p.Done(missed(f, p.Queue, p.VHost))}
}

// DescribeQueue asks for QueueInfo. It does not renew the lease.
type DescribeQueue struct {
	Request
	Consumers bool // include the list of consumers
	Ahead     bool // include Ahead
}

// Answer implements Answerable.
func (d *DescribeQueue) Answer(f Cause) (Address, any) {
	if f == Down {
		return d.ReplyTo, &QueueInfo{Reply: d.Done(nil), Down: true}
	}
	return d.ReplyTo, &QueueInfo{Reply: d.Done(gone(f, "", ""))}
}

// missed returns the error for a channel's command to a queue that has ended or failed: Missed makes the channel look
// for the queue again, as it may be restarting.
func missed(f Cause, queue, vhost string) error {
	if f.unseen() {
		return &Missed{queue}
	}
	return gone(f, queue, vhost)
}

func gone(f Cause, queue, vhost string) error {
	switch f {
	case Failed, Unseen:
		return protocol.ConnectionErrorf(protocol.InternalError, "queue '%s' in vhost '%s' failed", queue, vhost)
	case Down:
		return QueueDown(queue, vhost)
	case Unstored:
		return NotStored()
	case Gone:
	}
	return protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", queue, vhost)
}

// QueueDown returns the error of every operation on a queue that is down (PRO-16), except its deletion. [RabbitMQ: a
// crashed queue]
func QueueDown(queue, vhost string) error {
	return protocol.ChannelErrorf(protocol.NotFound, "queue '%s' in vhost '%s' has crashed and failed to restart", queue, vhost)
}
