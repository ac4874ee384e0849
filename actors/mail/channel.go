package mail

import (
	"cmp"
	"errors"
	"slices"

	"candlemark/internal/message"
	"candlemark/policies"
	"candlemark/protocol"
)

// Inbound carries what one read of the socket brought for one channel: runs of
// whole frames, checked by the reader. The chunk is retained for the channel.
type Inbound struct {
	Runs  [][]byte
	Chunk *message.Chunk
}

// Range is an interval of numbers, both ends included.
type Range struct{ First, Last uint64 }

// EnqueueReply settles messages by Number: taken (and stored, if they were
// persistent in a durable queue) or refused. From a queue to whoever enqueued.
type EnqueueReply struct {
	Queue   Address // nil when somebody else answers for it
	Ranges  []Range
	Refused bool
	// Why, of what is refused, is an error if the messages are not what the queue takes, ErrCopy if they never will be; nil if it cannot take any.
	Why error
	// Seqs are the queue's numbers for the messages, one for each number in Ranges, if the batch was Numbered and the queue
	// has taken it; 0 of one that it did not keep.
	Seqs []uint64
}

// ErrCopy: a copy by the action of a rule cannot be made, or is not what the queue takes (SBR-6). Another attempt makes the same one.
var ErrCopy = errors.New("the action of a rule cannot be applied to the message")

// Add appends n to the ranges, joining neighbours; 0 is nobody's number.
func (r *EnqueueReply) Add(n uint64) {
	if n == 0 {
		return
	}
	if k := len(r.Ranges); k > 0 && r.Ranges[k-1].Last+1 == n {
		r.Ranges[k-1].Last = n
		return
	}
	r.Ranges = append(r.Ranges, Range{n, n})
}

// Deliver carries messages of one queue for one consumer, in order. The channel
// calls Release when they are written.
type Deliver struct {
	Queue Address
	Tag   string
	NoAck bool
	Items []Delivery
	Chunk *message.Chunk
	// Written counts the items that the channel has dealt with.
	Written int
}

// Release gives the batch's chunk back, and its slice to the next batch. A
// second call does nothing.
func (d *Deliver) Release() {
	d.Chunk.Release()
	d.Chunk = nil
	recycle(&deliveryPool, d.Items)
	d.Items = nil
}

// DetachChunk gives the read chunk of a batch that has to wait back: a consumer
// that does not read must not hold up a publisher's connection. What is copied
// is bounded by the consumer's window.
func (d *Deliver) DetachChunk() {
	if d.Chunk == nil {
		return
	}
	for i := d.Written; i < len(d.Items); i++ {
		d.Items[i].Message.Own()
	}
	d.Chunk.Release()
	d.Chunk = nil
}

// Delivery is one message for a consumer.
type Delivery struct {
	Message message.Message
	// Number is the queue's number of this delivery for this channel, counting
	// from 1 without gaps over all its consumers and gets; 0 without
	// acknowledgement.
	Number      uint64
	Redelivered bool
	Facts       *Facts // nil for who did not ask
}

// Facts tell somebody who asks more of a message (LOCK-3). Moments are wall ms.
type Facts struct {
	Seq      uint64 // its number in the queue, never given out twice
	Enqueued int64
	Expires  int64 // 0 for never
	// Locked is when the delivery goes back if nobody settles it before, 0 for never.
	Locked int64
	// Lock tells this delivery of the message from all others (see RenewLock); 0 without acknowledgement.
	Lock uint64
	// DeliveryCount is how often the message was delivered before and came back.
	DeliveryCount uint32
}

// ConsumeReply answers Consume.
type ConsumeReply struct {
	Reply
	Queue   Address
	Tag     string
	Session *SessionLocked // the one that it asked for
}

// CancelConsumerReply answers CancelConsumer.
type CancelConsumerReply struct {
	Reply
	Tag string
}

// Offer: a queue has messages for consumers of a channel with a common limit, or
// with no Messages, nothing yet and could do with one in advance: for what may
// not wait for an answer (TTL-20). The channel answers Allow when it has room.
type Offer struct {
	Queue    Address
	Messages int
}

// Drained: a queue has nothing more for a consumer that was to give up its credit, which is
// used up with DeliveryCount. From a queue, behind the last Deliver.
type Drained struct {
	Queue         Address
	Tag           string
	DeliveryCount uint32
}

// Unused returns what a channel allowed and could not be sent, because the
// queue ran empty or the consumers are no longer limited.
type Unused struct {
	Queue    Address
	Messages int
}

// DeliveriesReturned: nobody settled these deliveries in time, or somebody Asked for
// them, and the queue has taken them back (ADR 10); or somebody else has Settled them, as well as Asked. Settling them later changes
// nothing. From a queue to the channel that had them.
type DeliveriesReturned struct {
	Queue   Address
	Asked   bool
	Settled bool
	Name    string  // of the queue
	Numbers []Range // the queue's, as in Delivery; ascending
}

// Add adds n to the numbers, most often behind them, joining it to the one before.
func (d *DeliveriesReturned) Add(n uint64) {
	i := d.at(n)
	switch {
	case i < len(d.Numbers) && d.Numbers[i].First <= n:
	case i > 0 && d.Numbers[i-1].Last+1 == n:
		d.Numbers[i-1].Last = n
	default:
		d.Numbers = slices.Insert(d.Numbers, i, Range{n, n})
	}
}

// Covers reports whether n is one of them.
func (d *DeliveriesReturned) Covers(n uint64) bool {
	i := d.at(n)
	return i < len(d.Numbers) && d.Numbers[i].First <= n
}

// at is where the first range stands that does not end before n.
func (d *DeliveriesReturned) at(n uint64) int {
	i, _ := slices.BinarySearchFunc(d.Numbers, n, func(r Range, n uint64) int { return cmp.Compare(r.Last, n) })
	return i
}

// ConsumerCancelled: the queue ended or failed, or did not get a delivery settled
// in time; its consumer is no more (LEASE-9, ADR 10).
type ConsumerCancelled struct {
	Queue Address
	Tag   string
	// Lost: its lock of a session has run out (SESSION-4).
	Lost bool
}

// GetReply answers Get. Empty says that there was nothing to get.
type GetReply struct {
	Reply
	Queue        Address
	Empty        bool
	Delivery     Delivery
	MessageCount int
}

// PurgeReply answers Purge with the number of messages dropped.
type PurgeReply struct {
	Reply
	MessageCount int
}

// DeclareQueueReply answers DeclareQueue.
type DeclareQueueReply struct {
	Reply
	Name                        string
	MessageCount, ConsumerCount int
}

// DeleteQueueReply answers DeleteQueue with the number of messages deleted.
type DeleteQueueReply struct {
	Reply
	Queue        string // its name, of a queue that was there
	MessageCount int
}

// TopologyReply answers DeclareExchange, DeleteExchange, Bind and Unbind; it is
// sent when the new snapshot is published (PRO-4).
type TopologyReply struct{ Reply }

// ConnectionReleased answers ReleaseConnection: the exclusive queues are gone.
type ConnectionReleased struct{ Reply }

// QueueInfo answers DescribeQueue.
type QueueInfo struct {
	Reply
	Name                      string
	Ready, Unacked, Consumers int
	ReadyBytes                int64
	Effective                 policies.Effective
	Settings                  policies.QueueSettings
	Arguments                 protocol.Table
	Durable, AutoDelete       bool
	Exclusive                 bool
	Expiring                  ExpiryCounts
	Lease                     Lease
	UnackedBytes              int64 // of the bodies
	Memory                    int64 // bytes that the messages take
	// Paged messages have their contents, with bodies of PagedBytes, in the journal
	// only.
	Paged      int
	PagedBytes int64
	LastUse    int64 // wall ms, of the last mail that was no question
	// Persistent messages, with bodies of PersistentBytes.
	Persistent      int
	PersistentBytes int64
	// ExclusiveTag is that of the exclusive consumer, ActiveTag that of the single active one; "" for none.
	ExclusiveTag, ActiveTag string
	HeadTimestamp           uint64          // property of the first ready message, 0 without one
	List                    []QueueConsumer // if asked for
	Counts                  Counts
	Scheduled               ScheduledCounts
	Sessions                int    // with messages or a state, or locked
	Deferred                int    // messages that are delivered only to who asks for their numbers
	OldestUnacked           int64  // wall ms since when a message has been unacked for longest, rounded down to s, 0 for none
	Ahead                   *Ahead // if asked for
	Down                    bool   // it cannot be brought back: all the rest is unknown
}

// OutboxReady tells a channel that held something back that its connection's
// outbox has room again, or that it is its turn to basic.get.
type OutboxReady struct{}

// CloseChannel tells a channel that its connection ends: it settles nothing
// more, gives back what it holds, answers ChannelClosed and stops itself.
type CloseChannel struct{}
