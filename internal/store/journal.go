package store

import (
	"errors"
	"math"

	"candlemark/protocol"
)

// QueueID names one incarnation of a queue. It is its incarnation number, which a
// broker gives out once in the life of its data folder.
type QueueID uint64

// Position is where a stored message stands in the journal; 0 is nowhere. Only
// the journal that gave it out can read it, as long as the message lives.
type Position uint64

// Kind of a record.
type Kind uint8

const (
	// Put: a message was taken in. It has one sequence number.
	Put Kind = iota + 1
	// Spill: a message that is not to survive left memory for the journal. It is
	// read back like a Put, and forgotten by a restart.
	Spill
	// Delivered: messages went to consumers that have yet to settle them. They
	// come back with the redelivered flag.
	Delivered
	// Returned: deliveries came back; each counts (DL-9).
	Returned
	// Remove: messages left, by whatever decision Why says.
	Remove
	// Retire: the queue ended; nothing of it is left.
	Retire
	// Released: scheduled messages came due and are in the queue like any other
	// since.
	Released
	// Rescheduled: a scheduled message is due at another time, Due. It has one
	// sequence number, and its Time is not kept.
	Rescheduled
	// Named: the queue's name (Naming), for messages of queues missing from the definitions. Repeating a known name
	// costs nothing.
	Named
	// Deferred: messages are not delivered any more but to who asks for their numbers.
	Deferred
	// Postponed: messages are deferred, and ready again at Until. Its Time is not kept.
	Postponed
)

// Reason of a Remove.
type Reason uint8

// Why messages leave a queue.
const (
	Acked Reason = iota + 1
	Expired
	Rejected
	Overflowed
	Purged
	Exceeded // the delivery limit (DL-9)
	Damaged  // it could not be read back
	Cancelled
	Forwarded // moved on by forward-to
	Exhausted // moved on too often
)

// Never is the deadline of a message that does not expire.
const Never = math.MaxInt64

// After returns the deadline that lies ms behind start, both in ms; Never for negative ms.
func After(start, ms int64) int64 {
	if ms < 0 || ms >= Never-start {
		return Never
	}
	return start + ms
}

// Record is one decision of a queue.
type Record struct {
	Kind Kind
	// Time of the decision in wall ms.
	Time int64
	// First and Last are sequence numbers, both ends included; a Put has one.
	First, Last uint64
	Why         Reason // of a Remove
	// Again, of a Put or Spill: the message exists and only its content is replaced. Its state is kept. A message that
	// was removed stays removed.
	Again bool
	// Note, of a Put: it is no message but a note of the queue. Deadline and TTL are data for the queue.
	Note bool

	// The message of a Put or Spill. Overlay has the broker's additions to its header, encoded; nil for none.
	Exchange, RoutingKey, Header, Body, Overlay []byte

	Deadline int64 // wall ms, Never for none
	TTL      int64 // the message's own, ms, -1 for none
	Priority uint8
	// Due is when a scheduled message is to be released, wall ms; 0 of one that is
	// not scheduled. The Deadline of one that is, is the same if it was to be held
	// for a time, and Never if until a date.
	Due int64
	// Until is when postponed messages are ready again, wall ms. In a Put or Spill the journal sets it.
	Until int64
	// Position of a Put or Spill is filled in by the journal before it calls done.
	Position Position
}

// Journal makes records durable and reads them back. It is safe for concurrent
// use, and calls no function of its user's from within a call of the user.
type Journal interface {
	// Append hands records over without waiting. The records and what they point at belong to the journal until done
	// is called, exactly once, from a goroutine of the journal: nil when all of them are durable, else an error, and
	// their state is unknown. Calls for one queue complete in order. With a nil done the records are durable within
	// Lag.
	Append(q QueueID, records []Record, done func(error))
	// Read fetches messages of one queue, wherever the journal has moved them to.
	// done gets one Content for each, in the order of want, from a goroutine of
	// the journal. Long runs in the order of their positions are read best.
	Read(q QueueID, want []Ref, done func([]Content))
	// Queues returns those that had messages when the journal was opened and were not taken yet.
	Queues() []QueueID
	// Names returns those of queues that were recorded (Named) and have not ended, with messages or without. The map is
	// the caller's.
	Names() map[QueueID]Name
	// Take returns what a queue had when the journal was opened, by ascending
	// sequence number, once.
	Take(q QueueID) []Recovered
	// Recall does so at any time, behind what was appended, for a queue that has
	// lost its memory; done is called from a goroutine of the journal. The
	// messages of Spill are among them.
	Recall(q QueueID, done func([]Recovered, error))
	// Close completes what was appended and ends; later Appends fail.
	Close() error
}

// Ref names a stored message.
type Ref struct {
	Seq uint64
	At  Position
}

// Content is a message read back. Its slices are the receiver's.
type Content struct {
	Seq uint64
	// Record is the Put or Spill, with its present position.
	Record Record
	// Err is ErrDamaged or another reason why there is no message.
	Err error
}

// Recovered is a message that survived.
type Recovered struct {
	Seq        uint64
	At         Position
	Deadline   int64  // wall ms, as it was written; Never for none
	TTL        int64  // the message's own, ms, -1 for none
	Time       int64  // of the enqueue, wall ms
	Body       uint32 // bytes
	Deliveries uint32 // how often it came back (Returned)
	Priority   uint8
	// Redelivered: it was delivered, or came back.
	Redelivered bool
	// Due is that of the Put, or of the last Rescheduled; Released says that it has
	// passed and the message was released.
	Due      int64
	Released bool
	// Deferred: it is not delivered but to who asks for it; or, if Until is not 0, before Until, wall ms.
	Deferred bool
	Until    int64
	// Note: it is none of the messages (Record.Note).
	Note bool
	// MessageID is IDHash of the property of a scheduled message.
	MessageID uint32
}

// IDHash returns a number for the property message-id in raw properties, 0 without one. Other ids may have the same.
func IDHash(properties []byte) uint32 {
	scan, err := protocol.ScanProperties(properties)
	if err != nil || len(scan.MessageID) == 0 {
		return 0
	}
	return HashID(scan.MessageID)
}

// HashID returns that of an id, 1 and more.
func HashID[T string | []byte](id T) uint32 {
	h := uint32(2166136261)
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return max(h, 1)
}

// Errors of a journal.
var (
	// ErrClosed: it was closed before the call.
	ErrClosed = errors.New("journal is closed")
	// ErrDamaged: a stored record differs from the written one.
	ErrDamaged = errors.New("stored message is damaged")
	// ErrUnknown: there is no such message.
	ErrUnknown = errors.New("no such stored message")
)
