package mail

// ReceiveDeferred takes deferred messages by their numbers, as a basic.get takes a ready one (DEFER-2). From a channel;
// DeferredReceived comes back.
type ReceiveDeferred struct {
	Request
	Channel Address
	// Seqs are the numbers of messages. It is not altered.
	Seqs         []uint64
	NoAck        bool
	Session      *string // in a queue with sessions: the one that they are of, which a consumer of the connection has locked (SESSION-6)
	Link         string  // without Session: the name of that consumer's link
	Connection   Address
	Queue, VHost string
}

// Answer implements Answerable.
func (r *ReceiveDeferred) Answer(f Fate) (Address, any) {
	return r.ReplyTo, &DeferredReceived{Reply: r.Done(missed(f, r.Queue, r.VHost))}
}

// DeferredReceived answers ReceiveDeferred.
type DeferredReceived struct {
	Reply
	Queue Address
	// Deliveries are in the order that was asked for, with Facts. What is not deferred, is held by somebody, or cannot be read
	// for now, is left out.
	Deliveries []Delivery
	// Left are the last of the numbers: there was no room for those, of MostClaimed messages and about ClaimBytes.
	Left []uint64
}
