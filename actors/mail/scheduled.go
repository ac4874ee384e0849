package mail

// What is asked of a queue that keeps messages for later: those it got with the
// setting delayed-messages, or, of a delayed exchange's holder
// (topology.Exchange.Holder), those that the exchange holds. A scheduled message is
// known by its number in its queue, which is never given out twice, or by its
// property message-id, which several may have. None of this renews a lease.

// Cursor is a place in the order of release: by Due, then by Seq. The zero value is
// before all messages.
type Cursor struct {
	Due int64 // wall ms
	Seq uint64
}

// ListScheduled asks for the scheduled messages behind After, in the order of their
// release. From anybody; ScheduledPage comes back.
type ListScheduled struct {
	Request
	After Cursor
	// Limit is how many are wanted, 1 to MostPeeked; all else means MostPeeked.
	Limit int
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (l *ListScheduled) Answer(f Fate) (Address, any) {
	return l.ReplyTo, &ScheduledPage{Reply: l.Done(gone(f, l.Queue, l.VHost))}
}

// ScheduledPage answers ListScheduled. The messages are those of one instant; those
// of the next page are of a later one: what was scheduled or cancelled meanwhile may
// be missing or gone, nothing else comes twice or is left out.
type ScheduledPage struct {
	Reply
	Messages []ScheduledMessage
	// Next is where the next page begins, nil if there is none.
	Next *Cursor
}

// ScheduledMessage is one message that waits for its time.
type ScheduledMessage struct {
	Seq           uint64 // its number in the queue
	Due, Enqueued int64  // wall ms
	MessageID     string // property message-id, "" without one
	Exchange      string // published to
	RoutingKey    string
	Bytes         int64 // of the body
	Persistent    bool
	Priority      uint8 // property priority
	// Unreadable: its content is in the journal and could not be read for now; only
	// Seq, Due, Enqueued and Bytes are known.
	Unreadable bool
}

// CancelScheduled drops the scheduled message with number Seq, or, with Seq 0, all
// that have the property message-id; with Seqs all of these, or none if one of them is not there. It is not dead-lettered. From anybody;
// ScheduledChanged comes back.
type CancelScheduled struct {
	Request
	Seq       uint64
	MessageID string
	Seqs      []uint64
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (c *CancelScheduled) Answer(f Fate) (Address, any) {
	return c.ReplyTo, &ScheduledChanged{Reply: c.Done(gone(f, c.Queue, c.VHost))}
}

// Reschedule gives the scheduled message with number Seq, or, with Seq 0, all that
// have the property message-id, another time: Due, in wall ms, 1 and more. What has
// passed already is due at once. Due is at most 10 years away: 406. From anybody;
// ScheduledChanged comes back.
type Reschedule struct {
	Request
	Seq       uint64
	MessageID string
	Due       int64
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (r *Reschedule) Answer(f Fate) (Address, any) {
	return r.ReplyTo, &ScheduledChanged{Reply: r.Done(gone(f, r.Queue, r.VHost))}
}

// ScheduledChanged answers CancelScheduled and Reschedule when the change is in the
// journal, if the message is. Count is how many messages it was; 0 is no error: the
// message was released, or there never was one.
type ScheduledChanged struct {
	Reply
	Count int
}

// ScheduledCounts are those of QueueInfo. They are kept, not counted.
type ScheduledCounts struct {
	Count   int
	Bytes   int64 // of the bodies
	NextDue int64 // wall ms of the next release, 0 for none
	// Within are how many are due within 1 s, 1 min, 1 h, 1 d, or later: each message
	// is in one of them.
	Within [5]int
	// Overdue are those, of Count, that were due already and wait for the release
	// rate; Within has them in its first.
	Overdue int
}
