package mail

// Queries and commands about unacked deliveries. Each delivery has a lock: no other consumer gets the message until it
// is settled or its consumer timeout, if there is one, ends (ADR 10).

// ListUnacked asks for deliveries by ascending message number. From any actor; UnackedPage comes back. It does not
// renew leases or locks.
type ListUnacked struct {
	Request
	After uint64 // message number after which to continue, 0 for the start
	// Limit is the maximum number of deliveries, 1 to MaxPeeked; any other value means MaxPeeked.
	Limit int
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (l *ListUnacked) Answer(f Cause) (Address, any) {
	return l.ReplyTo, &UnackedPage{Reply: l.Done(gone(f, l.Queue, l.VHost))}
}

// UnackedPage answers ListUnacked.
type UnackedPage struct {
	Reply
	Deliveries []UnackedDelivery
	More       bool // more deliveries follow the last one
}

// UnackedDelivery is one unacked delivery.
type UnackedDelivery struct {
	Seq     uint64  // number of the message in its queue
	Channel Address // nil if no channel holds it (LOCK-10)
	Tag     string  // the consumer's tag, "" for basic.get and without a channel
	Number  uint64  // the queue's number of the delivery for that channel, as in Delivery
	// Delivered is when it was delivered, in wall ms, rounded down to 4 ms.
	Delivered int64
	Locked    int64 // when it is requeued, wall ms, 0 for never
	Expires   int64 // wall ms, 0 for never
	Size      int64 // bytes of the body
	// DeliveryCount is the number of earlier deliveries that were requeued.
	DeliveryCount uint32
	Redelivered   bool
}

// RenewLock restarts the consumer timeout of deliveries, at its current setting. It never shortens a lock, and a
// delivery without a timeout gets none. It applies to the deliveries in Locks, on any channel; without Locks to the
// delivery of message Seq; without Seq to delivery Number of Channel; without Number to all deliveries of Tag. From any
// actor; RenewLockReply comes back.
type RenewLock struct {
	Request
	Seq     uint64
	Locks   []Lock
	Channel Address
	Number  uint64
	Tag     string
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (r *RenewLock) Answer(f Cause) (Address, any) {
	return r.ReplyTo, &RenewLockReply{Reply: r.Done(gone(f, r.Queue, r.VHost))}
}

// RenewLockReply answers RenewLock.
type RenewLockReply struct {
	Reply
	// Count is the number of deliveries found; 0 is not an error: they were settled or their locks ended before.
	Count int
	// Locked is the earliest time at which one of them is requeued, wall ms, 0 for never.
	Locked int64
	// Until holds that time for each of Locks that was found.
	Until map[Lock]int64
}

// SettleLocked settles deliveries by their locks: all of them or none (LOCK-7). They may belong to any channel, except
// in sessions (see Connection). As with ReturnDelivery, the holder is informed. From any actor; SettleLockedReply comes
// back.
type SettleLocked struct {
	Request
	Locks   []Lock
	How     Settlement
	Outcome *Outcome // amendments to the messages, nil for none
	// Connection is the sender's connection. Only the connection that has locked a session may settle its messages.
	Connection Address
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Lock identifies a delivery by two of its Facts: the number of the message, and the lock.
type Lock struct{ Seq, Lock uint64 }

// Answer implements Answerable.
func (s *SettleLocked) Answer(f Cause) (Address, any) {
	return s.ReplyTo, &SettleLockedReply{Reply: s.Done(gone(f, s.Queue, s.VHost))}
}

// SettleLockedReply answers SettleLocked.
type SettleLockedReply struct {
	Reply
	// Held: all are settled now. Otherwise at least one was settled before or its lock has ended, and nothing has
	// changed.
	Held bool
}

// ReturnDelivery requeues the delivery of message Seq as if its timeout had ended, except that the consumer is not
// cancelled. From any actor; ReturnDeliveryReply comes back.
type ReturnDelivery struct {
	Request
	Seq uint64
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (r *ReturnDelivery) Answer(f Cause) (Address, any) {
	return r.ReplyTo, &ReturnDeliveryReply{Reply: r.Done(gone(f, r.Queue, r.VHost))}
}

// ReturnDeliveryReply answers ReturnDelivery.
type ReturnDeliveryReply struct {
	Reply
	Found bool // false is not an error: it was settled or requeued before
}

// FindDeliveries asks a channel for the tags of deliveries given by the queue's numbers for that channel, or for the
// delivery with a tag. From any actor; DeliveriesFound comes back.
type FindDeliveries struct {
	Request
	Queue   Address
	Numbers []uint64
	Tag     uint64 // instead of Queue and Numbers, unless 0
}

// Answer implements Answerable: a channel that has ended holds no deliveries.
func (d *FindDeliveries) Answer(Cause) (Address, any) {
	return d.ReplyTo, &DeliveriesFound{Reply: d.Done(nil)}
}

// DeliveriesFound answers FindDeliveries: tags by number, for deliveries written to the client and not settled.
type DeliveriesFound struct {
	Reply
	Queue Address // for a query by Tag: the queue of the delivery
	Tags  map[uint64]uint64
}
