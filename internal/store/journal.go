package store

import "math"

// QueueID names one incarnation of a durable queue.
type QueueID struct {
	VHost, Name string
	Incarnation uint64
}

// Kind of a record.
type Kind uint8

const (
	// Put: a message was taken in.
	Put Kind = iota + 1
	// Remove: messages left, by whatever decision Why says.
	Remove
	// Retire: the queue ended; nothing of it is left.
	Retire
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
)

// Never is the deadline of a message that does not expire.
const Never = math.MaxInt64

// Record is one decision of a queue.
type Record struct {
	Kind Kind
	// Time of the decision in wall ms.
	Time int64
	// First and Last are sequence numbers, both ends included; a Put has one.
	First, Last uint64
	Why         Reason // of a Remove
	// The message of a Put.
	Exchange, RoutingKey, Header, Body []byte
	Deadline                           int64 // wall ms, Never for none
	TTL                                int64 // the message's own, ms, -1 for none
	Priority                           uint8
}

// Journal makes records durable. It is safe for concurrent use.
type Journal interface {
	// Append hands records over without waiting. The records and what they
	// point at belong to the journal until done is called, exactly once, from a
	// goroutine of the journal: nil when all of them are durable, else an error
	// and nothing is known about them. Calls for one queue complete in order.
	Append(q QueueID, records []Record, done func(error))
	// Close completes what was appended and ends; later Appends fail.
	Close() error
}
