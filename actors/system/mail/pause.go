package mail

import "math"

// PauseForEver is the Until of a pause without an end.
const PauseForEver = math.MaxInt64

// PauseQueue stops the deliveries of a queue until a time, in wall ms: in the future and at most 10 years ahead, otherwise the error is
// 406; or PauseForEver. It replaces an earlier one. With Resume it ends it. From any actor; PauseQueueReply comes back.
type PauseQueue struct {
	Request
	Until  int64
	Resume bool
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (p *PauseQueue) Answer(f Cause) (Address, any) {
	return p.ReplyTo, &PauseQueueReply{Reply: p.Done(gone(f, p.Queue, p.VHost))}
}

// PauseQueueReply answers PauseQueue, for a durable queue once the change is in the journal. Paused: deliveries are stopped, also if only
// by policy, until Until in wall ms, 0 for no end.
type PauseQueueReply struct {
	Reply
	Paused bool
	Until  int64
}
