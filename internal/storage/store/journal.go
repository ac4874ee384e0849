package store

import (
	"errors"
	"math"

	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

// QueueID names one incarnation of a queue. It is its incarnation number, which a broker uses only once in the life of
// its data folder.
type QueueID uint64

// Position is the place of a stored message in the journal; 0 for none. Only the journal that returned it can read it,
// as long as the message is live.
type Position uint64

// Kind of a record.
type Kind uint8

const (
	// Put: a message was taken in. It has one sequence number.
	Put Kind = iota + 1
	// Spill: a message that is not to survive a restart was moved from memory to the journal. It is read back like a Put, and a restart
	// forgets it.
	Spill
	// Delivered: messages went to consumers and are not settled. They come back with the redelivered flag.
	Delivered
	// Returned: deliveries came back that had failed; each counts towards the delivery limit (DL-9).
	Returned
	// Remove: messages left, for the reason in Why.
	Remove
	// Retire: the queue ended; nothing of it remains.
	Retire
	// Released: scheduled messages came due and are now in the queue like any other. Its Time is not kept.
	Released
	// Rescheduled: a scheduled message got a new due time, Due. It has one sequence number, and its Time is not kept.
	Rescheduled
	// Named: the queue's name (Naming), for messages of queues missing from the definitions. Repeating a known name
	// costs nothing.
	Named
	// Deferred: messages are no longer delivered except by number.
	Deferred
	// Postponed: messages are deferred until Until, when they are ready again. Its Time is not kept.
	Postponed
	// GivenBack: deliveries came back that had not failed (DL-9).
	GivenBack
	// Applied: the journal of a replica has every entry up to Last of the log that it is filled from (CLU-3). It belongs to no queue.
	Applied
)

// Reason of a Remove.
type Reason uint8

// Reasons why messages leave a queue.
const (
	Acked Reason = iota + 1
	Expired
	Rejected
	Overflowed
	Purged
	Exceeded // the delivery limit (DL-9)
	Damaged  // it could not be read back
	Cancelled
	Forwarded // by forward-to
	Exhausted // forwarded too often
	Copied    // too many copies, when it was to be forwarded
	Failed    // a rule could not be applied to it (SBR-7)
)

// Never is the deadline of a message that does not expire.
const Never = math.MaxInt64

// After returns the deadline ms after start, both in ms; Never for negative ms.
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
	// Again, of a Put or Spill: the message exists and only its content is replaced; its state is kept. A removed
	// message stays removed.
	Again bool
	// Note, of a Put: it is not a message but a note of the queue. Deadline and TTL are data for the queue.
	Note bool

	// The message of a Put or Spill. Overlay has the broker's additions to its header, encoded; nil for none.
	Exchange, RoutingKey, Header, Body, Overlay []byte

	Deadline int64 // wall ms, Never for none
	TTL      int64 // the message's own, ms, -1 for none
	Priority uint8
	// Due is when a scheduled message is to be released, wall ms; 0 for other messages. The Deadline of a scheduled
	// message equals Due if it is held for a time, and is Never if it is held until a date.
	Due int64
	// Until is the time when postponed messages are ready again, wall ms. In a Put or Spill the journal sets it.
	Until int64
	// TTLThen, of a Released, is the queue's TTL at that time. In a Put or Spill the journal sets it.
	TTLThen TTLThen
	// Origin, of a new Put, is the stored message of another queue of which it is a copy: that one is removed when all its
	// copies have arrived. A snapshot of the journal leaves the copy out as long as the origin is there. It is not
	// written.
	Origin Origin
	// Position of a Put or Spill is filled in by the journal before it calls done.
	Position Position
}

// Origin names a message of a queue. The zero value names none.
type Origin struct {
	Queue QueueID
	Seq   uint64
}

// TTLThen is the TTL that a queue had at some time; 0 if that is not known.
type TTLThen int64

// Then returns the TTLThen of a TTL in ms, negative for none.
func Then(ttl int64) TTLThen { return TTLThen(max(ttl, -1) + 2) }

// TTL returns the TTL in ms, negative for none; ok is false if it is not known.
func (t TTLThen) TTL() (ms int64, ok bool) { return int64(t) - 2, t != 0 }

// Journal makes records durable and reads them back. It is safe for concurrent use, and never calls a function of the
// caller from within a call of its own methods.
type Journal interface {
	// Append hands over records without waiting. The records and everything they point at belong to the journal until
	// it calls done, exactly once, from one of its goroutines: with nil when all of them are durable, or with an error
	// when their state is unknown. Calls for one queue complete in order. With a nil done the records are in the file
	// soon, and durable within Lag (DUR-5).
	Append(q QueueID, records []Record, done func(error))
	// Read fetches messages of one queue, wherever the journal has moved them to. done gets one Content for each, in
	// the order of want, from a goroutine of the journal. Long runs in the order of their positions are fastest.
	Read(q QueueID, want []Ref, done func([]Content))
	// Queues returns the queues that had messages when the journal was opened and are not yet taken.
	Queues() []QueueID
	// Names returns the recorded names (Named) of queues that have not ended, with or without messages. The map belongs
	// to the caller.
	Names() map[QueueID]Name
	// Take returns, once, the messages that a queue had when the journal was opened, by ascending sequence number.
	Take(q QueueID) []Recovered
	// Recall does the same at any time, after all earlier Appends, for a queue that has lost its memory; done is called
	// from a goroutine of the journal. Spilled messages are included.
	Recall(q QueueID, done func([]Recovered, error))
	// Close completes earlier Appends and ends; later Appends fail.
	Close() error
}

// Replicated is the Journal of a node of a cluster: until the end of an Append is reported, another node may go on without its records.
type Replicated interface {
	Journal
	// Current reports whether no other node can have gone on yet (CLU-17). If it is false, the end of another Append shows that none had when
	// that was begun.
	Current() bool
}

// Ref names a stored message.
type Ref struct {
	Seq uint64
	At  Position
}

// Content is a message read back. Its slices belong to the receiver.
type Content struct {
	Seq uint64
	// Record is the Put or Spill, with its current position.
	Record Record
	// Err is ErrDamaged or another reason why there is no message.
	Err error
}

// Recovered is a message that survived.
type Recovered struct {
	Seq      uint64
	At       Position
	Deadline int64           // wall ms, as it was written; Never for none
	TTL      int64           // the message's own, ms, -1 for none
	Time     int64           // of the enqueue, wall ms
	Body     uint32          // bytes
	Returns  message.Returns // how often it came back (Returned, GivenBack)
	Priority uint8
	// Redelivered: it was delivered, or came back.
	Redelivered bool
	// Due is the due time of the Put, or of the last Rescheduled; Released reports that it has passed and the message
	// was released.
	Due      int64
	Released bool
	TTLThen  TTLThen // the queue's TTL at the release
	// Deferred: it is delivered only by number; if Until is not 0, only before Until, wall ms.
	Deferred bool
	Until    int64
	// Note: it is not a message (Record.Note).
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

// HashID returns the hash of an id, at least 1.
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
	// ErrLost: the node no longer leads its cluster. Whether the last records were stored is unknown.
	ErrLost = errors.New("this node no longer leads the cluster")
	// ErrDamaged: a stored record differs from the written one.
	ErrDamaged = errors.New("stored message is damaged")
	// ErrUnknown: there is no such message.
	ErrUnknown = errors.New("no such stored message")
)
