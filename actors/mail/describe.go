package mail

import (
	"candlemark/internal/metrics"
	"candlemark/protocol"
)

// DescribeChannel asks a channel for ChannelInfo. From the administrator.
type DescribeChannel struct{ Request }

// Answer implements Answerable: a channel that is gone is described by an error.
func (d *DescribeChannel) Answer(Fate) (Address, any) {
	return d.ReplyTo, &ChannelInfo{Reply: d.Done(protocol.ChannelErrorf(protocol.NotFound, "the channel is gone"))}
}

// ChannelInfo answers DescribeChannel.
type ChannelInfo struct {
	Reply
	Number  uint16
	User    string
	VHost   string
	Running bool // not being closed
	Confirm bool
	// Prefetch is that of consumers to come, GlobalPrefetch the limit that all of
	// them share; 0 for none.
	Prefetch, GlobalPrefetch        int
	Consumers, Unacked, Unconfirmed int
	Transactional                   bool
	Uncommitted, AcksUncommitted    int // publishes and settled deliveries that wait for tx.commit
	Counts                          Counts
	Published                       metrics.Published
	LastUse                         int64        // wall ms, of the last frame or delivery, or the beginning
	Session                         *SessionInfo // of AMQP 1.0; nil for a channel of 0-9-1
}

// Counts are the messages that a channel or a queue has seen since it began. A
// queue counts as published what it was sent, and knows nothing of confirms and
// returns.
type Counts struct {
	Publish, Confirm      uint64
	Returned, Dropped     uint64 // unroutable: mandatory, or not
	Deliver, DeliverNoAck uint64 // to consumers
	Get, GetNoAck         uint64 // by basic.get
	GetEmpty              uint64 // basic.get that found nothing
	Ack, Redeliver        uint64
	// TimedOut counts deliveries that came back because nobody settled them in
	// time, Late those that were settled when they had left.
	TimedOut, Late uint64
	// Duplicates counts publishes that a queue dropped since it had accepted their ids before (DUP-1).
	Duplicates uint64
	// Damaged counts messages of a queue that its journal could not give back.
	Damaged uint64
}

// ExpiryCounts tell when the ready messages of a queue expire.
type ExpiryCounts struct {
	Count  int    // of those that have a deadline
	Within [5]int // of these: within 1 s, 1 min, 1 h, 1 d, and later; what is overdue is in the first
	Next   int64  // the earliest deadline, wall ms, 0 for none
}

// AheadHorizons are how many ms ahead the classes of Ahead reach; one more class is behind them.
var AheadHorizons = [...]int64{1e3, 10e3, 60e3, 600e3, 3600e3, 6 * 3600e3, 24 * 3600e3, 7 * 24 * 3600e3, 30 * 24 * 3600e3}

// Ahead tells how much of a queue is due within each of the horizons and not before, and last what is due later. What is overdue is in
// the first.
type Ahead struct {
	Expiring, Scheduled, Locks [len(AheadHorizons) + 1]int // messages ready, messages scheduled, deliveries that have to be settled
	NextLock                   int64                       // the first time of those, wall ms, 0 for none
}

// Lease is the lease of a queue. The zero value is none.
type Lease struct {
	Period  int64  // ms
	Ends    int64  // wall ms, 0 while it is held
	Renewed int64  // wall ms
	By      string // what renewed it: the name of a lease.Use
}

// QueueConsumer is a consumer in QueueInfo.
type QueueConsumer struct {
	Channel   Address
	Tag       string
	NoAck     bool
	Exclusive bool
	Active    bool // gets messages; not those who wait behind a single active consumer
	Prefetch  int  // 0 for any number
	Arguments protocol.Table
	Timeout   int64 // ms in which a delivery has to be settled, -1 for any time
}

// ChannelLink is a channel in ConnectionInfo.
type ChannelLink struct {
	ID  uint16
	PID Address
}

// Endpoint is one end of a socket; Port is 0 for what has none.
type Endpoint struct {
	Host string // an IP address
	Port int
}

// Traffic counts what a connection has read and written: bytes, and the system
// calls that it took.
type Traffic struct{ BytesIn, BytesOut, Reads, Writes uint64 }
