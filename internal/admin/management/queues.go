package management

import (
	"context"

	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/policies"
	"candlemark/policies/retry"
	"candlemark/protocol"
)

// Queues is the part of the broker about queues.
type Queues interface {
	// Queues describes the queues of a vhost, of all for "", sorted by vhost
	// and name. Queues that end before they answer are left out.
	Queues(ctx context.Context, vhost string) ([]Queue, error)
	// QueueNames returns the names of those queues, in that order; none of them is asked.
	QueueNames(vhost string) []QueueSummary
	// QueuesNamed describes the queues with these names, in the given order. Missing queues are left out.
	QueuesNamed(ctx context.Context, names []QueueSummary) ([]Queue, error)
	// Expiring describes the queues that hold ready messages with an expiry, Leased the queues that end when unused. No
	// other queue is queried.
	Expiring(ctx context.Context, vhost string) ([]Queue, error)
	Leased(ctx context.Context, vhost string) ([]Queue, error)
	// Ahead counts the messages due in each virtual host. The answer is up to a second old, or older if there are
	// many queues to ask.
	Ahead(ctx context.Context) ([]Ahead, error)
	// Queue describes one, with its Details.
	Queue(ctx context.Context, vhost, name string) (Queue, error)
}

// QueueSummary names a queue, and has the data available without querying it.
type QueueSummary struct {
	VHost, Name, Type              string
	Durable, AutoDelete, Exclusive bool
	Ending                         bool // it sends its last messages and can no longer be used (LEASE-14)
	Arguments                      protocol.Table
	*queuestats.Stats              // of the end of its last turn; nil for none
}

// Queue describes a queue.
type Queue struct {
	VHost, Name, Type              string // Type is "classic", "quorum" or "stream"
	Durable, AutoDelete, Exclusive bool
	// Arguments are the declared ones, nothing merged in (POL-11).
	Arguments protocol.Table
	Effective policies.Effective
	queuestats.Figures
	// ExclusiveTag is the tag of the exclusive consumer, ActiveTag the tag of the single active consumer, or "" if there
	// is none.
	ExclusiveTag, ActiveTag string
	HeadTimestamp           uint64 // of the first message, s since 1970, 0 for none
	// DeliveryLimit is -1 for none.
	DeliveryLimit int64
	// Retry is the delayed retries.
	Retry     retry.Settings
	IdleSince int64 // wall ms
	// Expiring counts the upcoming expirations of ready messages; Lease is the queue's own.
	Expiring      ExpiryCounts
	Lease         Lease
	Counts        Counts
	CostlyRules   uint64 // evaluations of its SQL rules that took too many steps (SBR-2)
	Scheduled     ScheduledCounts
	OldestUnacked int64 // wall ms since when a message has been unacked for longest, to 4 ms, 0 for none
	// OldestReady is the oldest ready message, OldestMessage the oldest ready or unacked one (AGE-2).
	OldestReady, OldestMessage Oldest
	// Wait and Processing are how long messages waited for their first delivery, and how long deliveries were processed
	// (AGE-3), since the queue began or the broker was started; nil if none did.
	Wait, Processing *metrics.SpanSummary
	NextAttempt      int64 // when dead letters that were not taken are sent again, wall ms, 0 for none
	// Ending: it sends its last messages and can no longer be used (LEASE-14). They are counted as ready.
	Ending      bool
	PausedUntil int64 // until when its deliveries are stopped, wall ms; 0 if they are not, or have no end
	// State is "running", "paused" (PAUSE-1), "ending", or "down" for a queue that does not answer.
	State string
	// Details are nil in lists.
	Details *QueueDetails
}

// Oldest tells since when the oldest of some messages has been available in its queue, in wall ms, and its age in ms; both
// are 0 if there is none.
type Oldest struct{ Since, Age int64 }

// ExpiryCounts counts ready messages by time of expiry.
type ExpiryCounts struct {
	Count  int    // of messages with an expiry
	Within [5]int // of these: within 1 s, 1 min, 1 h, 1 d, and later; overdue ones are in the first
	Next   int64  // the earliest deadline, wall ms, 0 for none
}

// Add adds c.
func (t *ExpiryCounts) Add(c ExpiryCounts) {
	t.Count += c.Count
	for i, n := range c.Within {
		t.Within[i] += n
	}
	if t.Next == 0 || c.Next != 0 && c.Next < t.Next {
		t.Next = c.Next
	}
}

// Lease is the right of an unused queue to live on. The zero value stands for a queue that needs no lease.
type Lease struct {
	Period  int64  // ms
	Ends    int64  // wall ms, 0 while it is held by consumers
	Renewed int64  // wall ms
	By      string // what renewed it, a word
}

// QueueDetails are shown only to a question about one queue.
type QueueDetails struct {
	Consumers []Consumer
	Owner     *Connection
}

// Counts are messages since the object began: published, confirmed, unroutable
// ones returned or dropped, delivered to consumers with and without acknowledgement, got with and without
// acknowledgement, got in vain, acknowledged, delivered again.
type Counts struct {
	Publish, Confirm      uint64
	Returned, Dropped     uint64
	Deliver, DeliverNoAck uint64
	Get, GetNoAck         uint64
	GetEmpty              uint64
	Ack, Redeliver        uint64
}

// Add adds c.
func (t *Counts) Add(c Counts) {
	t.Publish, t.Confirm = t.Publish+c.Publish, t.Confirm+c.Confirm
	t.Returned, t.Dropped = t.Returned+c.Returned, t.Dropped+c.Dropped
	t.Deliver, t.DeliverNoAck = t.Deliver+c.Deliver, t.DeliverNoAck+c.DeliverNoAck
	t.Get, t.GetNoAck, t.GetEmpty = t.Get+c.Get, t.GetNoAck+c.GetNoAck, t.GetEmpty+c.GetEmpty
	t.Ack, t.Redeliver = t.Ack+c.Ack, t.Redeliver+c.Redeliver
}
