package mail

import "candlemark/protocol"

// Queries and commands about scheduled messages: messages in a queue with the setting delayed-messages, and messages of
// a delayed exchange in the queue that holds them (topology.Exchange.Holder). A scheduled message is identified by its
// number in its queue, which is never reused, or by its property message-id, which several messages may share. None of
// this mail renews a lease.

// Cursor is a position in the order of release: by Due, then by Seq. The zero value precedes all messages.
type Cursor struct {
	Due int64 // wall ms
	Seq uint64
}

// ListScheduled asks for the scheduled messages after the position After, in the order of their release. From any
// actor; ScheduledPage comes back.
type ListScheduled struct {
	Request
	After Cursor
	// Limit is the maximum number of messages, 1 to MaxPeeked; any other value means MaxPeeked.
	Limit int
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (l *ListScheduled) Answer(f Cause) (Address, any) {
	return l.ReplyTo, &ScheduledPage{Reply: l.Done(gone(f, l.Queue, l.VHost))}
}

// ScheduledPage answers ListScheduled. Each page is consistent, but later pages show a later state: messages scheduled
// or cancelled in between may or may not appear, all others appear exactly once.
type ScheduledPage struct {
	Reply
	Messages []ScheduledMessage
	// Next is the After of the next page, nil if this is the last.
	Next *Cursor
}

// ScheduledMessage is one scheduled message.
type ScheduledMessage struct {
	Seq           uint64 // number in the queue
	Due, Enqueued int64  // wall ms
	MessageID     string // property message-id, "" without one
	Exchange      string // exchange to which it was published
	RoutingKey    string
	Bytes         int64 // of the body
	Persistent    bool  // it is stored (STORE-3)
	Priority      uint8 // property priority
	// Unreadable: the content is in the journal and cannot be read at present; only Seq, Due, Enqueued and Bytes are
	// set.
	Unreadable bool
}

// ChangeScheduled drops scheduled messages (Cancel), which are not dead-lettered, or sets a new time for them, Due, in wall ms: at least 1
// and at most 10 years ahead, otherwise the error is 406; a time in the past is due at once. It concerns the message with number Seq or, if
// Seq is 0, all with the property message-id; or, if Seqs is set, all of those, or none if one does not exist; or, if Filter is
// set, some of those that it selects (DLY-17). From any actor; ChangeScheduledReply comes back.
type ChangeScheduled struct {
	Request
	Cancel    bool
	Due       int64
	Seq       uint64
	MessageID string
	Seqs      []uint64
	Filter    *ScheduledFilter
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (c *ChangeScheduled) Answer(f Cause) (Address, any) {
	return c.ReplyTo, &ChangeScheduledReply{Reply: c.Done(gone(f, c.Queue, c.VHost))}
}

// ChangeScheduledReply answers ChangeScheduled; for messages in the journal, once the change is in the
// journal. Count is the number of messages; 0 is not an error: the message was released or never existed.
type ChangeScheduledReply struct {
	Reply
	Count int
	// Unreadable counts messages that a filter may have meant: their contents could not be read, and they were not changed.
	Unreadable int
	// Next is the Filter.From with which a filter continues, nil if all messages were examined.
	Next *ScheduledPlace
}

// ScheduledFilter selects waiting messages that meet all its conditions. A queue examines a turn's limit of messages, and
// answers with the place at which the sender has to continue.
type ScheduledFilter struct {
	MessageID, CorrelationID string         // properties; "" for no condition
	Headers                  protocol.Table // headers of the publisher, which are equal as for a headers exchange
	DueFrom, DueBefore       int64          // due at or after, and before, in wall ms; 0 for no condition
	Retries                  bool           // messages that wait for a delayed retry, instead of scheduled ones
	Look                     bool           // only count them
	From                     *ScheduledPlace
}

// ScheduledPlace is how far a filter has come. Its times are the broker's.
type ScheduledPlace struct {
	Queue uint64 // its incarnation: a queue that has replaced it has other messages
	After Cursor // the last message that was examined
	Due   int64  // the new time of rescheduled messages
	Last  uint64 // messages with a higher number arrived later, and do not count
}

// ScheduledCounts counts scheduled messages, for QueueInfo. The counts are maintained, not computed on request.
type ScheduledCounts struct {
	Count   int
	Bytes   int64 // of the bodies
	NextDue int64 // wall ms of the next release, 0 for none
	// Within counts messages due within 1 s, 1 min, 1 h, 1 d, and later; each message is counted once.
	Within [5]int
	// Overdue counts due messages that the release rate delays; they are in the first class of Within.
	Overdue int
}
