package management

import (
	"context"

	"candlemark/internal/access/auth"
	"candlemark/protocol"
)

// Messages is the part of the broker that shows single messages and changes their due times. Users need the permission
// to read the queue and, for changes, permission to publish there or the tag policymaker. A read neither consumes
// messages nor renews a lease.
type Messages interface {
	// Peek shows messages of a queue.
	Peek(ctx context.Context, by Asker, at Place, how Peek) (PeekPage, error)
	// Expirations shows when messages of a queue expire: counts, and a page of those messages, soonest first.
	Expirations(ctx context.Context, by Asker, at Place, after Cursor, limit int) (ExpiryCounts, PeekPage, error)
	// Unacked lists unsettled deliveries of a queue by message number, beginning after the number after; more reports
	// whether there are others.
	Unacked(ctx context.Context, by Asker, at Place, after uint64, limit int) (list []Unacked, more bool, err error)
	// RenewLock renews the consumer timeout of deliveries. count is the number found, until the time when the first of
	// them is returned, in wall ms, 0 for never.
	RenewLock(ctx context.Context, by Asker, at Place, which Lock) (count int, until int64, err error)
	// ReturnDelivery requeues an unacked message; found is false if it is not unacked.
	ReturnDelivery(ctx context.Context, by Asker, at Place, id uint64) (found bool, err error)
	// Scheduled lists messages that wait for their time, by that.
	Scheduled(ctx context.Context, by Asker, at Place, after Cursor, limit int) (ScheduledPage, error)
	// ScheduledCounts counts them.
	ScheduledCounts(ctx context.Context, by Asker, at Place) (ScheduledCounts, error)
	// ChangeScheduled gives the selected messages another time, or drops them if to is nil, or only counts them. If it fails, a
	// part of the messages that a filter selects may have been changed: the answer counts them even with an error (DLY-17).
	ChangeScheduled(ctx context.Context, by Asker, at Place, which ScheduledFilter, to *When) (Swept, error)
	// PauseQueue stops the deliveries of a queue, or lets them go on; the answer tells whether a policy still stops them.
	PauseQueue(ctx context.Context, by Asker, at Place, change PauseChange) (Pause, error)
}

// Asker is the originator of a request.
type Asker struct {
	auth.User
	// Connection and Channel are names of actors, "" for none: a request over AMQP may use the connection's exclusive
	// queues and name deliveries by the channel's tags.
	Connection, Channel string
}

// Place is a queue, or a delayed exchange.
type Place struct {
	VHost, Name string
	Exchange    bool
}

// Cursor is the position at which a list continues; the zero value is the beginning. A cursor is opaque, except that
// Due is 0 for positions among unscheduled messages.
type Cursor struct {
	Due int64
	Seq uint64
}

// States of a message, to be joined.
const (
	StateReady = 1 << iota
	StateUnacked
	StateScheduled
	StateDeferred
)

// Peek selects the messages to show.
type Peek struct {
	After  Cursor
	Limit  int // 1 to 1000
	States int // joined
	Cut    int // bytes of each body
	// ByDeadline has ready messages only, that expire, soonest first; After is where such a list continues.
	ByDeadline bool
	// ByNumber orders them by their numbers; they begin after the Seq of After.
	ByNumber bool
}

// PeekPage is a part of a queue. Next is nil after the last message.
type PeekPage struct {
	Messages []Peeked
	Next     *Cursor
}

// Peeked is a message in a queue. Times are in wall ms, or 0 if there is none.
type Peeked struct {
	ID                             uint64 // its number in the queue
	State                          int
	Enqueued, Expires, Due, Locked int64
	Priority                       uint8
	DeliveryCount                  uint32
	Redelivered                    bool
	Exchange, RoutingKey           string
	Properties                     protocol.Properties
	Body                           []byte // cut
	Bytes                          int64  // of the whole body
	Unreadable                     bool   // for now, in the journal
}

// Unacked is an unsettled delivery. Times are in wall ms, or 0 if there is none.
type Unacked struct {
	ID          uint64 // of the message, its number in the queue
	ConsumerTag string // "" for basic.get
	// Connection is nil if it has just gone, or if it is not one.
	Connection                 *Connection
	Channel                    int
	DeliveryTag                uint64 // 0 if it is not with the client yet
	Delivered, Locked, Expires int64
	Bytes                      int64 // of the body
	DeliveryCount              uint32
	Redelivered                bool
}

// Lock names deliveries: the delivery of a message, all deliveries of a consumer, or, for a request over AMQP, the
// delivery with a tag on the same channel, from any queue.
type Lock struct {
	ID          uint64
	ConsumerTag string
	DeliveryTag uint64
}

// ScheduledPage is a part of a list. Next is nil after the last message.
type ScheduledPage struct {
	Messages []Scheduled
	Next     *Cursor
}

// Scheduled is a message that waits for its time.
type Scheduled struct {
	ID                              uint64
	Due, Enqueued                   int64 // wall ms
	MessageID, Exchange, RoutingKey string
	Bytes                           int64
	Persistent                      bool // it is stored (STORE-3)
	Priority                        uint8
	Unreadable                      bool
}

// ScheduledCounts are the numbers of scheduled messages due within 1 s, 1 min, 1 h, 1 d, and later.
type ScheduledCounts struct {
	Count   int
	Bytes   int64
	NextDue int64 // wall ms, 0 for none
	Within  [5]int
	Overdue int // of Count, wait for the release rate
}

// ScheduledFilter selects a message by its number, or waiting messages that meet all conditions; "" and 0 are no conditions.
type ScheduledFilter struct {
	ID                       uint64
	MessageID, CorrelationID string
	Headers                  protocol.Table
	DueFrom, DueBefore       int64 // wall ms
	Retries                  bool  // messages that wait for a delayed retry, instead of scheduled ones
	Look                     bool  // only count
}

// Named reports whether a filter names messages by nothing but their number or message-id (DLY-11).
func (f *ScheduledFilter) Named() bool {
	return f.ID != 0 || f.CorrelationID == "" && f.Headers == nil && f.DueFrom == 0 && f.DueBefore == 0 && !f.Retries && !f.Look
}

// Swept counts the messages that a filter found or changed.
type Swept struct {
	Count, Unreadable int
	Due               int64 // the new time in wall ms, 0 for none
}

// PauseChange pauses a queue until a time, without an end for nil, or resumes it.
type PauseChange struct {
	Until  *When
	Resume bool
}

// Pause tells whether the deliveries of a queue are stopped, and until when, in wall ms; 0 for no end.
type Pause struct {
	Is    bool
	Until int64
}

// When is a time in wall ms or, if it is relative, ms from now.
type When struct {
	MS       int64
	Relative bool
}
