package mail

// ReceiveDeferred takes deferred messages by their numbers (DEFER-2). From a channel; ReceiveDeferredReply comes back.
type ReceiveDeferred struct {
	Request
	Channel Address
	// Seqs are the numbers of the messages. The receiver does not modify it.
	Seqs         []uint64
	NoAck        bool
	Session      *string // in a queue with sessions: the session of the messages, which a consumer of the connection has locked (SESSION-6)
	Link         string  // without Session: the link name of that consumer
	Connection   Address
	Queue, VHost string
}

// Answer implements Answerable.
func (r *ReceiveDeferred) Answer(f Cause) (Address, any) {
	return r.ReplyTo, &ReceiveDeferredReply{Reply: r.Done(missed(f, r.Queue, r.VHost))}
}

// ReceiveDeferredReply answers ReceiveDeferred.
type ReceiveDeferredReply struct {
	Reply
	Queue Address
	// Deliveries are in the requested order, with Facts. Messages are omitted if they are not deferred, are held by a
	// consumer, or cannot be read at present.
	Deliveries []Delivery
	// Left are the last of Seqs, beyond the limits of MaxClaimed messages and about ClaimBytes.
	Left []uint64
}
