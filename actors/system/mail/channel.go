package mail

import (
	"cmp"
	"errors"
	"slices"

	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
	"candlemark/protocol"
)

// Inbound carries the bytes for one channel from one read of the socket: runs of whole frames, checked by the reader.
// The chunk is retained for the channel.
type Inbound struct {
	Runs  [][]byte
	Chunk *message.Chunk
}

// Range is an interval of numbers, both ends included.
type Range struct{ First, Last uint64 }

// EnqueueReply settles messages by Number: taken, and on disk if the queue stores them (STORE-2), or refused. From a
// queue to the sender of an Enqueue.
type EnqueueReply struct {
	Queue   Address // nil if another actor answers for the queue
	Ranges  []Range
	Refused bool
	// Failed: they are Refused because the queue panicked; it may have taken some of them.
	Failed bool
	// Skipped: they are runs of schedules, not taken because of the run before (REC-8).
	Skipped bool
	// Why is the reason of a refusal: an error if the messages are not valid for the queue; nil if the queue cannot take any
	// messages. It is ErrCopy for messages that the queue has dropped; these are not Refused, as their publisher cannot help it.
	Why error
	// Seqs are the queue's numbers of the messages, one for each number in Ranges, if the batch was Numbered and the
	// queue has taken it; 0 for messages that it did not keep.
	Seqs []uint64
}

// ErrCopy: the action of a rule failed, or its result is not valid for the queue, which dead-letters no such messages (SBR-6).
// Another attempt would fail as well.
var ErrCopy = errors.New("the action of a rule cannot be applied to the message")

// Add appends n to the ranges, merging neighbours. It ignores 0, which is not the number of any message.
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

// Deliver carries messages of one queue for one consumer, in order. The channel calls Release when it has written
// them.
type Deliver struct {
	Queue Address
	Tag   string
	NoAck bool
	Items []Delivery
	Chunk *message.Chunk
	// Written counts the items that the channel has processed.
	Written int
	// Unread has been charged with the items, until Paid, Drop or Release; nil if nothing is charged.
	Unread *budget.Part
	wrote  int64 // charge of items that were processed and are not Paid
}

// Wrote counts the next item as processed: its content is in the outbox. Paid or Release must follow soon.
func (d *Deliver) Wrote() {
	d.wrote += int64(d.Items[d.Written].Charge())
	d.Written++
}

// Paid returns the charge of the items that were processed.
func (d *Deliver) Paid() {
	d.Unread.Return(d.wrote)
	d.wrote = 0
}

// Drop removes the unprocessed items, from the given one on, for which drop returns true.
func (d *Deliver) Drop(from int, drop func(*Delivery) bool) {
	kept, back := d.Items[:from], int64(0)
	for i := from; i < len(d.Items); i++ {
		if x := d.Items[i]; drop(&x) {
			back += int64(x.Charge())
		} else {
			kept = append(kept, x)
		}
	}
	clear(d.Items[len(kept):])
	d.Items = kept
	d.Unread.Return(back)
}

// Release releases the batch's chunk and returns the slice of messages to the pool. A second call does nothing.
func (d *Deliver) Release() {
	for d.Written < len(d.Items) {
		d.Wrote()
	}
	d.Paid()
	d.Chunk.Release()
	d.Chunk = nil
	recycle(&deliveryPool, d.Items)
	d.Items = nil
}

// DetachChunk copies the messages of a batch that has to wait and releases its read chunk, so that a slow consumer
// does not block a publisher's connection. The consumer's window limits the copied bytes.
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
	// Number is the queue's number of this delivery for this channel, counting from 1 without gaps over all its
	// consumers and gets; 0 if no acknowledgement is expected.
	Number      uint64
	Redelivered bool
	Facts       *Facts // nil unless requested
}

// overhead is the approximate size of a delivery on its way without its content, in bytes.
const overhead = 256

// Charge returns the bytes that the delivery is charged with until its content is in the outbox.
func (d *Delivery) Charge() int { return ChargeOf(d.Message.Size()) }

// ChargeOf returns the Charge of the delivery of a message of that Size.
func ChargeOf(size int) int { return size + overhead }

// Facts are details of a delivery for consumers that request them (LOCK-3). Times are wall ms.
type Facts struct {
	Seq      uint64 // the message's number in the queue, never reused
	Enqueued int64
	Expires  int64 // 0 for never
	// Locked is when an unsettled delivery is requeued, 0 for never.
	Locked int64
	// Lock identifies this delivery of the message (see RenewLock); 0 if no acknowledgement is expected.
	Lock uint64
	// DeliveryCount is the number of earlier deliveries that were requeued.
	DeliveryCount uint32
}

// ConsumeReply answers Consume.
type ConsumeReply struct {
	Reply
	Queue   Address
	Tag     string
	Session *SessionLocked // the requested session
}

// CancelConsumerReply answers CancelConsumer.
type CancelConsumerReply struct {
	Reply
	Tag string
}

// QosOffer: a queue has messages for consumers of a channel with a common limit. If Messages is 0 it has none yet, but
// asks to be allowed one in advance, as some messages cannot wait for an answer (TTL-20). The channel answers with
// Allow when there is room.
type QosOffer struct {
	Queue    Address
	Messages int
}

// CreditTaken: a queue has taken a Credit with Echo or Drain. From a queue, after its deliveries.
type CreditTaken struct {
	Queue Address
	Tag   string
	// Drained: the queue has no more messages for the consumer, whose credit is used up at DeliveryCount.
	Drained       bool
	DeliveryCount uint32
	Available     uint32 // number of ready messages
}

// QosUnused returns the unused part of what the channel has allowed, because the queue is empty or its consumers are no
// longer limited.
type QosUnused struct {
	Queue    Address
	Messages int
}

// DeliveriesRequeued: the queue has taken these deliveries back, because they were not settled in time, or because
// another actor Asked for it (ADR 10). If Settled is set, another actor has settled them, and Asked is set as well.
// Settling them later has no effect. From a queue to the channel that held them.
type DeliveriesRequeued struct {
	Queue   Address
	Asked   bool
	Settled bool
	Name    string  // name of the queue
	Numbers []Range // the queue's delivery numbers, as in Delivery; ascending
}

// Add adds n to the numbers, usually at the end, merging it with its neighbour.
func (d *DeliveriesRequeued) Add(n uint64) {
	i := d.at(n)
	switch {
	case i < len(d.Numbers) && d.Numbers[i].First <= n:
	case i > 0 && d.Numbers[i-1].Last+1 == n:
		d.Numbers[i-1].Last = n
	default:
		d.Numbers = slices.Insert(d.Numbers, i, Range{n, n})
	}
}

// Covers reports whether n is among the numbers.
func (d *DeliveriesRequeued) Covers(n uint64) bool {
	i := d.at(n)
	return i < len(d.Numbers) && d.Numbers[i].First <= n
}

// at returns the index of the first range that does not end before n.
func (d *DeliveriesRequeued) at(n uint64) int {
	i, _ := slices.BinarySearchFunc(d.Numbers, n, func(r Range, n uint64) int { return cmp.Compare(r.Last, n) })
	return i
}

// ConsumerCancelled: the consumer was cancelled because the queue ended or failed, or because it did not settle a
// delivery in time (LEASE-9, ADR 10).
type ConsumerCancelled struct {
	Queue Address
	Tag   string
	// Lost: the consumer's session lock has expired (SESSION-4).
	Lost bool
}

// ConsumerTimedOut: a consumer with a link credit did not settle a delivery in time. The queue sends it no more
// messages, and its channel answers with CancelConsumer, which requeues its other deliveries (LOCK-9).
type ConsumerTimedOut struct {
	Queue Address
	Tag   string
}

// GetReply answers Get. Empty: there was no message.
type GetReply struct {
	Reply
	Queue Address
	Empty bool
	// Crowded is the charge of a message that was not taken because Get.Unread has no room for it; 0 otherwise.
	Crowded      int64
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
	Queue        string // its name, if the queue existed
	MessageCount int
}

// TopologyReply answers DeclareExchange, DeleteExchange, Bind and Unbind; it is
// sent when the new snapshot is published (PRO-4).
type TopologyReply struct{ Reply }

// ReleaseConnectionReply answers ReleaseConnection: the exclusive queues are deleted.
type ReleaseConnectionReply struct{ Reply }

// QueueInfo answers DescribeQueue.
type QueueInfo struct {
	Reply
	Name string
	queuestats.Figures
	Effective           policies.Effective
	Settings            policies.QueueSettings
	Arguments           protocol.Table
	Durable, AutoDelete bool
	Exclusive           bool
	Expiring            ExpiryCounts
	Lease               Lease
	LastUse             int64 // wall ms, of the last mail other than a query
	PausedUntil         int64 // until when deliveries are stopped, wall ms; 0 if they are not, or have no end
	// ExclusiveTag is the tag of the exclusive consumer, ActiveTag of the single active consumer; "" for none.
	ExclusiveTag, ActiveTag string
	HeadTimestamp           uint64          // timestamp property of the first ready message, 0 for none
	List                    []QueueConsumer // if requested
	Counts                  Counts
	Scheduled               ScheduledCounts
	OldestUnacked           int64  // time of the oldest unacked delivery, wall ms rounded down to 4 ms; 0 for none
	OldestReady             Oldest // of the ready messages (AGE-2)
	OldestMessage           Oldest // of the ready and unacked messages
	// Wait and Processing are how long messages waited and were processed; nil if none was (AGE-3).
	Wait, Processing *metrics.SpanSummary
	Ahead            *Ahead // if requested
	NextAttempt      int64  // time of that attempt, wall ms, 0 for none
	Down             bool   // the queue could not be restarted: all other fields are unknown
}

// Oldest tells since when the oldest of some messages has been available in the queue, in wall ms, and its age in ms; both
// are 0 if there is none.
type Oldest struct{ Since, Age int64 }

// OutboxReady informs a channel that its connection's outbox has room again for held output, or that its basic.get is
// next.
type OutboxReady struct{}

// CloseChannel informs a channel that its connection is ending: the channel settles no more deliveries, returns the
// deliveries that it holds, answers with ChannelClosed and stops.
type CloseChannel struct{}
