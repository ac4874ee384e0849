package queuestats

// Values are the figures of one queue, indexed by the constants below.
type Values [count]int64

// Sums are the figures of several queues that can be added up: those before Running.
type Sums [Running]int64

// The indexes of Values.
const (
	Ready        = iota // ready messages, as clients see them
	Unacked             // unacked messages
	ReadyBytes          // bytes of bodies
	UnackedBytes        // bytes of bodies
	Scheduled           // scheduled messages before their due time
	Deferred            // deferred messages: delivered only when requested by number, or at a later time
	Paged               // messages whose content is only in the journal
	PagedBytes          // bytes of bodies
	Consumers
	Leased // 1 for a queue with a lease
	Paused // 1 for a queue whose deliveries are stopped (PAUSE-1)

	Enqueued // messages sent to the queue; the figures from here to Lost only grow
	Delivered
	DeliveredNoAck
	Got
	GotNoAck
	GotNothing // basic.get on an empty queue
	Acked
	Redelivered
	TimedOut // deliveries not settled in time
	Late     // deliveries settled after that
	Settled  // deliveries settled by their consumers
	Lost     // messages that were to arrive elsewhere and ended with their queue, or with their delayed exchange

	Running         // 1 for a queue that has started and not failed; the figures from here on are not added up
	Persistent      // stored messages (STORE-3), ready and unacked
	PersistentBytes // bytes of bodies
	Memory          // bytes of memory held by messages
	Expiring        // ready messages with an expiry
	Timed           // scheduled messages and deliveries with a settlement deadline
	Postponed       // deferred messages with a time when they are ready again (RETRY-1)
	Sessions        // sessions with messages, with a state, or locked
	DeadLetters     // messages kept as dead letters until their targets have taken them
	Retrying        // dead letters that were not taken, and wait for the next attempt
	LeaseEnds       // end of the lease in ms of the broker's time, 0 while the queue is in use
	OldestReady     // since when the oldest ready message waits, in ms of the broker's time, 0 if none is ready (AGE-2)

	count

	// Gauges is the number of figures before those that only grow.
	Gauges = Enqueued
)

// Sums returns the part of the values that can be added up. It shares their memory.
func (v *Values) Sums() *Sums { return (*Sums)(v[:Running]) }

// Add adds n.
func (t *Sums) Add(n *Sums) {
	for i, v := range n {
		t[i] += v
	}
}

// Figures are the figures of a queue that describe it.
type Figures struct {
	Ready, Unacked, Consumers        int
	ReadyBytes, UnackedBytes, Memory int64
	Paged, Persistent                int
	PagedBytes, PersistentBytes      int64
	ScheduledCount, ExpiringCount    int
	Deferred, Postponed, Sessions    int
	DeadLetters, Retrying            int
	TimedOut, Late                   uint64
	Paused                           int
}

// Figures returns the figures by name.
func (v *Values) Figures() Figures {
	return Figures{
		int(v[Ready]), int(v[Unacked]), int(v[Consumers]), v[ReadyBytes], v[UnackedBytes], v[Memory], int(v[Paged]), int(v[Persistent]),
		v[PagedBytes], v[PersistentBytes], int(v[Scheduled]), int(v[Expiring]), int(v[Deferred]), int(v[Postponed]), int(v[Sessions]),
		int(v[DeadLetters]), int(v[Retrying]), uint64(v[TimedOut]), uint64(v[Late]), int(v[Paused]),
	}
}

// Figure is a figure of queues as lists and metrics show it.
type Figure struct {
	Name string // in JSON, in lists of the command line and as a column to sort by
	Help string
	Of   func(*Figures) int64
	// Metric is the metric of each queue, without the prefix rabbitmq_, and Group its group of metrics; "" for none. Total is
	// the metric of all queues; one with the prefix candlemark_ includes the messages of delayed exchanges.
	Group, Metric, Total string
}

// The groups of metrics of queues, in RabbitMQ called families.
const (
	Coarse    = "queue_coarse_metrics"
	Consuming = "queue_consumer_count"
	More      = "queue_metrics"
)

// Table has the figures of queues that are numbers of something.
var Table = []Figure{
	{"messages_ready", "Messages ready for delivery", func(f *Figures) int64 { return int64(f.Ready) }, Coarse, "queue_messages_ready", "rabbitmq_queue_messages_ready"},
	{"messages_unacknowledged", "Messages delivered but not yet acknowledged", func(f *Figures) int64 { return int64(f.Unacked) }, Coarse, "queue_messages_unacked", "rabbitmq_queue_messages_unacked"},
	{"messages", "Messages ready or unacked", func(f *Figures) int64 { return int64(f.Ready) + int64(f.Unacked) }, Coarse, "queue_messages", "rabbitmq_queue_messages"},
	{"consumers", "Consumers", func(f *Figures) int64 { return int64(f.Consumers) }, Consuming, "queue_consumers", "rabbitmq_queue_consumers"},
	{"memory", "Memory used by the messages", func(f *Figures) int64 { return f.Memory }, More, "queue_process_memory_bytes", ""},
	{"message_bytes", "Body bytes of ready and unacked messages", func(f *Figures) int64 { return f.ReadyBytes + f.UnackedBytes }, More, "queue_messages_bytes", "rabbitmq_queue_messages_bytes"},
	{"message_bytes_ready", "Body bytes of ready messages", func(f *Figures) int64 { return f.ReadyBytes }, More, "queue_messages_ready_bytes", "rabbitmq_queue_messages_ready_bytes"},
	{"message_bytes_unacknowledged", "Body bytes of unacked messages", func(f *Figures) int64 { return f.UnackedBytes }, More, "queue_messages_unacked_bytes", "rabbitmq_queue_messages_unacked_bytes"},
	{"messages_paged_out", "Messages whose content is only on disk", func(f *Figures) int64 { return int64(f.Paged) }, More, "queue_messages_paged_out", "rabbitmq_queue_messages_paged_out"},
	{"message_bytes_paged_out", "Body bytes that are only on disk", func(f *Figures) int64 { return f.PagedBytes }, More, "queue_messages_paged_out_bytes", "rabbitmq_queue_messages_paged_out_bytes"},
	{"messages_scheduled", "Scheduled messages", func(f *Figures) int64 { return int64(f.ScheduledCount) }, More, "queue_messages_scheduled", "candlemark_scheduled_messages"},
	{"messages_deferred", "Deferred messages, which are delivered only by number", func(f *Figures) int64 { return int64(f.Deferred) }, "", "", "candlemark_deferred_messages"},
	{"messages_delayed", "Deferred messages with a time when they are ready again", func(f *Figures) int64 { return int64(f.Postponed) }, "", "", ""},
	{"messages_expiring", "Ready messages that expire", func(f *Figures) int64 { return int64(f.ExpiringCount) }, "", "", ""},
	{"messages_dlx", "Dead letters that have not reached all of their targets", func(f *Figures) int64 { return int64(f.DeadLetters) }, "", "", ""},
	{"messages_dlx_retrying", "Dead letters that wait for the next attempt", func(f *Figures) int64 { return int64(f.Retrying) }, "", "", ""},
	{"messages_persistent", "Stored messages", func(f *Figures) int64 { return int64(f.Persistent) }, "", "", ""},
	{"message_bytes_persistent", "Body bytes of stored messages", func(f *Figures) int64 { return f.PersistentBytes }, "", "", ""},
	{"messages_ready_ram", "Messages ready for delivery", func(f *Figures) int64 { return int64(f.Ready) }, "", "", ""},
	{"messages_unacknowledged_ram", "Messages delivered but not yet acknowledged", func(f *Figures) int64 { return int64(f.Unacked) }, "", "", ""},
	{"messages_ram", "Messages whose content is in memory", func(f *Figures) int64 { return max(int64(f.Ready)+int64(f.Unacked)-int64(f.Paged), 0) }, "", "", ""},
	{"message_bytes_ram", "Body bytes in memory", func(f *Figures) int64 { return max(f.ReadyBytes+f.UnackedBytes-f.PagedBytes, 0) }, "", "", ""},
	{"paused", "1 while the deliveries of the queue are stopped", func(f *Figures) int64 { return int64(f.Paused) }, More, "queue_paused", "candlemark_paused_queues"},
	{"sessions", "Sessions that have messages or a state, or are locked", func(f *Figures) int64 { return int64(f.Sessions) }, "", "", ""},
	{"deliveries_timed_out", "Deliveries requeued because they were not settled in time", func(f *Figures) int64 { return int64(f.TimedOut) }, "", "", ""},
	{"settled_late", "Deliveries settled after they were requeued", func(f *Figures) int64 { return int64(f.Late) }, "", "", ""},
}
