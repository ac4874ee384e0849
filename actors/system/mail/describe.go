package mail

import (
	"candlemark/internal/measure/metrics"
	"candlemark/protocol"
)

// DescribeChannel asks a channel for ChannelInfo. From the administrator.
type DescribeChannel struct {
	Request
	Queues bool // and for ChannelInfo.Queues
}

// Answer implements Answerable: the answer for a channel that has ended has an error.
func (d *DescribeChannel) Answer(Cause) (Address, any) {
	return d.ReplyTo, &ChannelInfo{Reply: d.Done(protocol.ChannelErrorf(protocol.NotFound, "the channel is gone"))}
}

// ChannelInfo answers DescribeChannel.
type ChannelInfo struct {
	Reply
	Number  uint16
	User    string
	VHost   string
	Running bool // and not closing
	Confirm bool
	// Prefetch applies to new consumers, GlobalPrefetch is the limit shared by all; 0 for none.
	Prefetch, GlobalPrefetch        int
	Consumers, Unacked, Unconfirmed int
	Transactional                   bool
	Uncommitted, AcksUncommitted    int // publishes and acks that wait for tx.commit
	Counts                          Counts
	Published                       metrics.Published
	Queues                          []string     // that it has consumers of, if requested
	LastUse                         int64        // wall ms, of the last frame or delivery, or of the start
	Session                         *SessionInfo // in AMQP 1.0; nil for a channel of 0-9-1
}

// Counts are the messages that a channel or a queue has handled since its start. A queue counts all messages sent to it
// as published, but no confirms or returns.
type Counts struct {
	Publish, Confirm      uint64
	Returned, Dropped     uint64 // unroutable: mandatory, not mandatory
	Deliver, DeliverNoAck uint64 // to consumers
	Get, GetNoAck         uint64 // by basic.get
	GetEmpty              uint64 // basic.get of an empty queue
	Ack, Redeliver        uint64
	// TimedOut counts deliveries requeued because they were not settled in time, Late deliveries settled afterwards.
	TimedOut, Late uint64
	// Settled counts deliveries that consumers have settled in time, with whatever outcome.
	Settled uint64
	// Duplicates counts publishes that a queue dropped because it had accepted their ids before (DUP-1).
	Duplicates uint64
	// Damaged counts messages that the journal could not read.
	Damaged uint64
}

// ExpiryCounts are the ready messages of a queue that expire.
type ExpiryCounts struct {
	Count  int    // messages with a deadline
	Within [5]int // of Count, by time left: within 1 s (or overdue), 1 min, 1 h, 1 d, later
	Next   int64  // the earliest deadline, wall ms, 0 for none
}

// AheadHorizons are the upper limits of the classes of Ahead, in ms from now; one more class has all later times.
var AheadHorizons = [...]int64{1e3, 10e3, 60e3, 600e3, 3600e3, 6 * 3600e3, 24 * 3600e3, 7 * 24 * 3600e3, 30 * 24 * 3600e3}

// Ahead counts the items due within each horizon but not within the previous one; the last class has all later items.
// Overdue items are in the first.
type Ahead struct {
	Expiring, Scheduled, Locks [len(AheadHorizons) + 1]int // ready messages, scheduled messages, unacked deliveries with a timeout
	NextLock                   int64                       // the earliest end of a lock, wall ms, 0 for none
}

// Lease is the lease of a queue. The zero value means none.
type Lease struct {
	Period  int64  // ms
	Ends    int64  // wall ms, 0 if it is held
	Renewed int64  // wall ms
	By      string // the use that renewed it: the name of the use in actors/queue/expiry/lease.go
}

// QueueConsumer is a consumer in QueueInfo.
type QueueConsumer struct {
	Channel   Address
	Tag       string
	NoAck     bool
	Exclusive bool
	Active    bool // gets messages; false for consumers that wait for a single active consumer to leave
	Prefetch  int  // 0 for no limit
	Arguments protocol.Table
	Timeout   int64 // consumer timeout in ms, -1 for none
}

// ChannelLink is a channel in ConnectionInfo.
type ChannelLink struct {
	ID  uint16
	PID Address
}

// Endpoint is one end of a socket; Port is 0 if it has none.
type Endpoint struct {
	Host string // an IP address
	Port int
}

// Traffic counts the bytes that a connection has read and written, and the system calls for them.
type Traffic struct{ BytesIn, BytesOut, Reads, Writes uint64 }
