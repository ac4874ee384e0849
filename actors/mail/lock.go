package mail

// What is asked about deliveries that nobody has settled yet. Each is locked: nobody
// else gets the message before it is settled, or, with a consumer timeout, before
// that runs out (ADR 10).

// ListUnacked asks for deliveries in the order of their messages' numbers. From
// anybody; UnackedPage comes back. It renews no lease and no lock.
type ListUnacked struct {
	Request
	After uint64 // number of the message behind which to go on, 0 for the beginning
	// Limit is how many are wanted, 1 to MostPeeked; all else means MostPeeked.
	Limit int
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (l *ListUnacked) Answer(f Fate) (Address, any) {
	return l.ReplyTo, &UnackedPage{Reply: l.Done(gone(f, l.Queue, l.VHost))}
}

// UnackedPage answers ListUnacked.
type UnackedPage struct {
	Reply
	Deliveries []UnackedDelivery
	More       bool // there are some behind the last one
}

// UnackedDelivery is one delivery that nobody has settled.
type UnackedDelivery struct {
	Seq     uint64 // number of the message in its queue
	Channel Address
	Tag     string // of the consumer, "" for basic.get
	Number  uint64 // the queue's for that channel, as in Delivery
	// Delivered is when, in wall ms, to the second: rounded down.
	Delivered int64
	Locked    int64 // when it goes back, wall ms, 0 for never
	Expires   int64 // wall ms, 0 for never
	Size      int64 // bytes of the body
	// DeliveryCount is how often it had come back before.
	DeliveryCount uint32
	Redelivered   bool
}

// RenewLock gives deliveries their consumer timeout anew, counted from now: what it
// is at present; a lock is never shortened, and what has none gets none. Which: with
// Seq the one of that message; with Locks those, whoever holds them; with Number that of Channel; else all that Tag holds.
// From anybody; LockRenewed comes back.
type RenewLock struct {
	Request
	Seq     uint64
	Locks   []Lock
	Channel Address
	Number  uint64
	Tag     string
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (r *RenewLock) Answer(f Fate) (Address, any) {
	return r.ReplyTo, &LockRenewed{Reply: r.Done(gone(f, r.Queue, r.VHost))}
}

// LockRenewed answers RenewLock.
type LockRenewed struct {
	Reply
	// Count is how many deliveries were found; 0 is no error: they are settled, or
	// their locks ran out before.
	Count int
	// Locked is the first time at which one of them goes back, wall ms, 0 for never.
	Locked int64
	// Until is that of each of Locks that was found.
	Until map[Lock]int64
}

// SettleLocked settles deliveries by their locks, whoever holds them but for sessions: all of them, or none (LOCK-7). Who holds them is told as by ReturnDelivery. From
// anybody; LockedSettled comes back.
type SettleLocked struct {
	Request
	Locks   []Lock
	How     Settlement
	Outcome *Outcome // what else is said of them, nil for nothing
	// Connection is that of whoever asks: what the lock of a session protects only that may settle which has it.
	Connection Address
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Lock names a delivery by its Facts: the number of the message, and the lock.
type Lock struct{ Seq, Lock uint64 }

// Answer implements Answerable.
func (s *SettleLocked) Answer(f Fate) (Address, any) {
	return s.ReplyTo, &LockedSettled{Reply: s.Done(gone(f, s.Queue, s.VHost))}
}

// LockedSettled answers SettleLocked.
type LockedSettled struct {
	Reply
	// Held: all are settled. Else one was settled before, or its lock has run out, and nothing has changed.
	Held bool
}

// ReturnDelivery takes the delivery of message Seq back from who holds it, as if that had not been settled in time, but
// that its consumer stays. From anybody; DeliveryReturned comes back.
type ReturnDelivery struct {
	Request
	Seq uint64
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (r *ReturnDelivery) Answer(f Fate) (Address, any) {
	return r.ReplyTo, &DeliveryReturned{Reply: r.Done(gone(f, r.Queue, r.VHost))}
}

// DeliveryReturned answers ReturnDelivery.
type DeliveryReturned struct {
	Reply
	Found bool // false is no error: it was settled, or came back before
}

// FindDeliveries asks a channel which deliveries of a queue, by its numbers for that
// channel, have which delivery tags, or which delivery a tag stands for. From anybody;
// DeliveriesFound comes back.
type FindDeliveries struct {
	Request
	Queue   Address
	Numbers []uint64
	Tag     uint64 // instead of Queue and Numbers, unless 0
}

// Answer implements Answerable: a channel that is gone holds nothing.
func (d *FindDeliveries) Answer(Fate) (Address, any) {
	return d.ReplyTo, &DeliveriesFound{Reply: d.Done(nil)}
}

// DeliveriesFound answers FindDeliveries: tags by number, of those that are written
// to the client and not settled.
type DeliveriesFound struct {
	Reply
	Queue Address // of the one asked for by tag
	Tags  map[uint64]uint64
}
