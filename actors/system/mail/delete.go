package mail

// MaxDeleted is the limit of messages in one DeleteMessages.
const MaxDeleted = 4000

// DeleteMessages deletes ready messages from the head of a queue, without dead-lettering (SBE-8). From any actor;
// DeleteMessagesReply comes back.
type DeleteMessages struct {
	Request
	Limit      int
	Before     int64   // only messages enqueued before this time, wall ms; 0 for all
	Session    *string // in a queue with sessions: the session of the messages, which a consumer of the connection has locked
	Link       string  // without Session: the link name of that consumer
	Connection Address
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (d *DeleteMessages) Answer(f Cause) (Address, any) {
	return d.ReplyTo, &DeleteMessagesReply{Reply: d.Done(gone(f, d.Queue, d.VHost))}
}

// DeleteMessagesReply answers DeleteMessages, when the journal has the deletion.
type DeleteMessagesReply struct {
	Reply
	Count int
}
