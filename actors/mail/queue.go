package mail

import (
	"candlemark/internal/events"
	"candlemark/internal/message"
	"candlemark/internal/servicebus/filter"
	"candlemark/protocol"
)

// Enqueue carries all messages of one batch for one queue, in order. Sent by a
// channel or the dead-letter actor; EnqueueReply comes back for those with a
// Number. The receiver calls Release exactly once.
type Enqueue struct {
	From Address
	// Queue is the receiver, for the answer that somebody gives in its place; nil
	// if the sender does not care.
	Queue    Address
	Messages []message.Message
	// Table is that of the topology.Queue whose PID the receiver is.
	Table uint64
	// Action is that of the topology.Queue: the receiver makes copies of the messages by it (SBR-6).
	Action *filter.Action
	// Chunk is retained for the queue, nil if no message aliases one.
	Chunk *message.Chunk
	// Debt is the credit of joined bodies.
	Debt message.Debt
	// Numbered has the answers carry the queue's numbers of the messages (EnqueueReply.Seqs).
	Numbered bool
	// Whole has the receiver, if it is a queue, take all messages or none (DL-10).
	Whole bool
	// Moved: the messages come from a queue, perhaps from the receiver, and none is a duplicate (DUP-1).
	Moved bool
	// Agreed: the queue has agreed to the messages (PrepareWork), so none is over its limits.
	Agreed bool
	// By is who published; only for the actor of admin commands, which is the only one
	// to ask.
	By *Publisher
}

// Publisher is who published, on the channel that an Enqueue is from.
type Publisher struct {
	User       string
	Tags       []string // the user's
	Connection Address  // the channel's
	Origin     *events.Origin
}

// Release gives the batch's credit back to the connection it came from, and its
// slice to the next batch: the messages are gone then. A second call does
// nothing.
func (e *Enqueue) Release() {
	e.Chunk.Release()
	e.Chunk = nil
	e.Debt.Settle()
	recycle(&messagePool, e.Messages)
	e.Messages = nil
}

// LendCredit takes the batch's credit out of it: the messages can be released before it.
// The receiver releases the chunk and settles the debt.
func (e *Enqueue) LendCredit() (*message.Chunk, message.Debt) {
	chunk, debt := e.Chunk, e.Debt
	e.Chunk, e.Debt = nil, message.Debt{}
	return chunk, debt
}

// Answer: a queue that ended has taken and discarded the batch (LEASE-7,
// PRO-2); one that failed or is down refuses it.
func (e *Enqueue) Answer(f Fate) (Address, any) {
	reply := &EnqueueReply{Queue: e.Queue, Refused: f != Gone}
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
	// Prefetch is how many unacknowledged deliveries the consumer may hold, 0
	// for any number.
	Prefetch  int
	Arguments protocol.Table
	// Limited says that the channel has a limit for all its consumers together:
	// the queue offers and the channel allows (PRO-8).
	Limited bool
	// Credited says that the consumer gets nothing but what Credit allows it.
	Credited bool
	// Facts has its deliveries carry them.
	Facts bool
	// Stays: it is not cancelled when it does not settle in time (LOCK-4).
	Stays bool
	// Session names the one to lock, in a queue with sessions (SESSION-3). ConsumeReply may then be long in coming.
	Session *SessionWanted
	// Connection is the channel's, for exclusive queues (DEC-5).
	Connection Address
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (c *Consume) Answer(f Fate) (Address, any) {
	return c.ReplyTo, &ConsumeReply{Reply: c.Done(missed(f, c.Queue, c.VHost)), Tag: c.Tag}
}

// CancelConsumer detaches a consumer; its deliveries stay with the channel.
// From a channel; CancelConsumerReply comes back after its last Deliver.
type CancelConsumer struct {
	Request
	Channel Address
	Tag     string
}

// Answer implements Answerable: a consumer of a queue that is gone is cancelled.
func (c *CancelConsumer) Answer(Fate) (Address, any) {
	return c.ReplyTo, &CancelConsumerReply{Reply: c.Done(nil), Tag: c.Tag}
}

// Grant gives a consumer's window back: what the channel handed to its
// connection's outbox, in messages and content bytes. From a channel, in
// batches; no reply (PRO-8).
type Grant struct {
	Channel  Address
	Tag      string
	Messages int
	Bytes    int
}

// Credit sets how many messages more a consumer that is Credited may be given after
// DeliveryCount of them, counted from 0 and modulo 2^32 as AMQP 1.0 does: the credit of its link. From a
// channel; no reply but, with Drain, Drained.
type Credit struct {
	Channel       Address
	Tag           string
	DeliveryCount uint32
	Credit        uint32
	// Drain has the queue give what it has, and use up the rest of the credit.
	Drain bool
}

// Allow answers Offer: the channel's consumers may be sent that many messages
// more. From the channel, perhaps long after the offer.
type Allow struct {
	Queue    Address
	Channel  Address
	Messages int
}

// Answer implements Answerable: a queue that is gone uses none of it.
func (a *Allow) Answer(Fate) (Address, any) {
	return a.Channel, &Unused{Queue: a.Queue, Messages: a.Messages}
}

// Reclaim asks for what the queue was allowed and has not used: another queue has
// messages, and there is no other room under the channel's limit. From the
// channel; Unused comes back.
type Reclaim struct {
	Channel Address
}

// Limit tells a queue that its consumers of a channel are from now on subject
// to the channel's common limit, or no longer. From the channel; no reply.
type Limit struct {
	Channel Address
	On      bool
}

// Resize sets the prefetch of all consumers that a channel has at a queue. From
// the channel, for clients that expect it of basic.qos; no reply.
type Resize struct {
	Channel  Address
	Prefetch int // 0 for any number
}

// ChannelGone: the channel ended; all its consumers are gone and what it held
// returns to its position. From the channel itself when it ends in order, else
// the queue draws the same conclusion from watching it.
type ChannelGone struct{ Channel Address }

// Get asks for one message. From a channel; GetReply comes back.
type Get struct {
	Request
	Channel      Address
	NoAck        bool
	Facts        bool // has the delivery carry them
	Connection   Address
	Queue, VHost string
}

// Answer implements Answerable.
func (g *Get) Answer(f Fate) (Address, any) {
	return g.ReplyTo, &GetReply{Reply: g.Done(missed(f, g.Queue, g.VHost))}
}

// Purge drops every ready message, without dead-lettering (DL-9). From a
// channel; PurgeReply comes back.
type Purge struct {
	Request
	Connection   Address
	Queue, VHost string
}

// Answer implements Answerable.
func (p *Purge) Answer(f Fate) (Address, any) {
	return p.ReplyTo, &PurgeReply{Reply: p.Done(missed(f, p.Queue, p.VHost))}
}

// DescribeQueue asks for QueueInfo; renews no lease.
type DescribeQueue struct {
	Request
	Consumers bool // list them too
	Ahead     bool // tell what is due, too
}

// Answer implements Answerable.
func (d *DescribeQueue) Answer(f Fate) (Address, any) {
	if f == Down {
		return d.ReplyTo, &QueueInfo{Reply: d.Done(nil), Down: true}
	}
	return d.ReplyTo, &QueueInfo{Reply: d.Done(gone(f, "", ""))}
}

// missed is gone for a command of a channel, which looks again: the queue may be on its
// way back.
func missed(f Fate, queue, vhost string) error {
	if f.unseen() {
		return &Missed{queue}
	}
	return gone(f, queue, vhost)
}

func gone(f Fate, queue, vhost string) error {
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

// QueueDown is the error of every operation on a queue that is down
// (PRO-16), but for its deletion. [RabbitMQ: a crashed queue]
func QueueDown(queue, vhost string) error {
	return protocol.ChannelErrorf(protocol.NotFound, "queue '%s' in vhost '%s' has crashed and failed to restart", queue, vhost)
}
