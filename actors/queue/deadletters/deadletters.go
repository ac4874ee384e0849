package deadletters

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/paging"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/seqmap"
	"candlemark/policies"
)

// Limit is how many dead letters may be with the dead-letter actor at a time (PRO-12); the others wait here, taken
// and not counted elsewhere.
const Limit = 4096

// ForwardLimit is how many forwarded messages may be under way or wait for a retry, so that they do not block dead
// letters.
const ForwardLimit = Limit / 2

// Owner is the queue that has the messages.
type Owner interface {
	// End ends a message that is not ready: it is dead-lettered or dropped.
	End(h backlog.Handle, why store.Reason)
	// Drop removes a message without dead-lettering, and counts it.
	Drop(h backlog.Handle, why store.Reason)
	// Remove removes a message from the queue.
	Remove(h backlog.Handle, why store.Reason)
	// MakeReady makes a message ready again.
	MakeReady(h backlog.Handle)
}

// Parts are the parts of a queue that its dead letters use.
type Parts struct {
	Owner    Owner
	Queue    *topology.Queue
	VHost    *topology.VHost
	Self     mail.Address
	Settings *policies.QueueSettings
	Messages *backlog.Backlog
	// Deadline returns the deadline of a message under the present settings, in wall ms.
	Deadline func(h backlog.Handle) int64
	Pager    *paging.Pager
	Memory   func() paging.Memory
	Out      *mail.Posts
}

// DeadLetters holds the dead letters of a queue. A nil *DeadLetters is an empty set and valid for all methods except Add and Forward.
type DeadLetters struct {
	Parts
	// Last makes every attempt the last one: the queue is deleted.
	Last bool
	// Waits keeps dead letters while there is no dead-letter exchange: the queue is ending.
	Waits    bool
	lost     int // number of messages that some target, or all, did not get
	all      seqmap.Map[deadLetter]
	bytes    int64  // of bodies
	sent     uint64 // the highest number sent to the dead-letter actor
	out      int    // number of unanswered dead letters
	outBytes int64  // of their bodies
	epoch    uint64 // how often the dead-letter actor has lost its dead letters
	retries  retries
	// forwarding counts forwarded, not dead-lettered, messages.
	forwarding      int
	forwardingBytes int64
}

type deadLetter struct {
	message backlog.Handle
	reason  store.Reason
	tries   uint8         // how often it was returned
	since   int64         // wall ms of the first return
	now     bool          // forwarded with a TTL of 0
	taken   []mail.Target // targets that have taken it
}

// Counters holds the counters to continue with in a later DeadLetters of the queue, as answers may arrive late. The zero value is
// for the first ones.
type Counters struct {
	last, epoch uint64
	delay       int64
}

// New returns the empty DeadLetters of a queue.
func New(p Parts) *DeadLetters { return &DeadLetters{Parts: p} }

// RestoreCounters sets the counters. It is called right after New.
func (l *DeadLetters) RestoreCounters(p Counters) {
	l.all, l.sent, l.epoch, l.retries.delay = seqmap.After[deadLetter](p.last), p.last, p.epoch, p.delay
}

// Counters returns the counters of these DeadLetters, which must be empty.
func (l *DeadLetters) Counters() Counters {
	if l == nil {
		return Counters{}
	}
	return Counters{l.all.Last(), l.epoch, l.retries.delay}
}

// Add adds a taken message as a dead letter.
func (l *DeadLetters) Add(h backlog.Handle, why store.Reason) {
	l.bytes += l.Messages.Size(h)
	l.Messages.Entry(h).Marks |= backlog.Ended
	l.all.Append(deadLetter{message: h, reason: why})
}

// Forward adds a taken message to be forwarded. now: forward it although its TTL is 0.
func (l *DeadLetters) Forward(h backlog.Handle, now bool) {
	size := l.Messages.Size(h)
	l.forwarding++
	l.forwardingBytes += size
	l.bytes += size
	l.Messages.Entry(h).Marks |= backlog.Ended
	l.all.Append(deadLetter{message: h, reason: store.Forwarded, now: now})
}

// CanForward reports whether there is room for another forwarded message.
func (l *DeadLetters) CanForward() bool { return l == nil || l.forwarding < ForwardLimit }

// Counts are the counts of DeadLetters.
type Counts struct {
	// Len counts all messages including forwarded ones, and Bytes the length of their bodies.
	Len   int
	Bytes int64
	// Forwarding and ForwardingBytes count the forwarded ones.
	Forwarding      int
	ForwardingBytes int64
	// UnderWay counts messages that the dead-letter actor has not answered, Epoch how often it has lost some.
	UnderWay int
	Epoch    uint64
	// Waiting counts messages that wait for the next attempt, Lost messages that some target, or all, did not get since
	// the queue has had dead letters.
	Waiting, Lost int
}

// Counts returns the counts. They are maintained, not computed.
func (l *DeadLetters) Counts() Counts {
	if l == nil {
		return Counts{}
	}
	return Counts{l.all.Len(), l.bytes, l.forwarding, l.forwardingBytes, l.out, l.epoch, len(l.retries.ids), l.lost}
}

// Retained returns the messages, and the bytes of bodies, that count against the queue's limits: retained dead letters
// (DL-30), and forwarded messages that have not arrived.
func (l *DeadLetters) Retained() (messages, bytes int64) {
	switch {
	case l == nil:
		return 0, 0
	case !l.Settings.DeadLetterAtLeastOnce:
		return int64(l.forwarding), l.forwardingBytes
	}
	return int64(l.all.Len()), l.bytes
}

// Each calls f for each message until it returns false.
func (l *DeadLetters) Each(f func(h backlog.Handle, why store.Reason) bool) {
	if l != nil {
		l.all.Each(func(_ uint64, x deadLetter) bool { return f(x.message, x.reason) })
	}
}

// discard removes a message for which no answer is expected.
func (l *DeadLetters) discard(x deadLetter) {
	l.uncount(x)
	l.Owner.Remove(x.message, x.reason)
}

// uncount subtracts one from the counts.
func (l *DeadLetters) uncount(x deadLetter) {
	size := l.Messages.Size(x.message)
	l.bytes -= size
	if x.reason == store.Forwarded {
		l.forwarding--
		l.forwardingBytes -= size
	}
}

// hasRoom reports whether another message may be sent to the dead-letter actor.
func (l *DeadLetters) hasRoom() bool {
	return l.out < Limit && (l.out == 0 || l.outBytes < l.Pager.Transit(l.Memory()))
}

// answered counts a message that is no longer with the dead-letter actor.
func (l *DeadLetters) answered(x deadLetter) {
	l.out--
	l.outBytes -= l.Messages.Size(x.message)
}

// Answered handles an answer of the dead-letter actor: it has settled some dead letters, returns others to be retried,
// or has failed and needs all unanswered dead letters again.
func (l *DeadLetters) Answered(m *mail.DeadLetterReply, now clock.Instant) {
	if l == nil || m.Incarnation != l.Queue.Incarnation {
		return
	}
	again := false
	l.lost += m.Dropped
	for _, r := range m.IDs {
		l.all.TakeRange(r.First, r.Last, func(_ uint64, x deadLetter) {
			l.answered(x)
			again = again || x.tries > 0
			l.discard(x)
		})
	}
	for _, k := range m.Retained {
		l.kept(k, now)
	}
	for _, id := range m.Exceeded {
		if x, ok := l.all.Take(id); ok {
			l.answered(x)
			l.uncount(x)
			l.Owner.End(x.message, store.Copied)
		}
	}
	if again {
		l.RetryNow(now)
	}
	if m.Lost && m.Epoch == l.epoch {
		l.resend()
	}
}

// resend schedules all unanswered messages to be sent again, along with messages to be retried.
func (l *DeadLetters) resend() {
	l.epoch++
	l.out, l.outBytes, l.sent, l.retries = 0, 0, l.all.Last(), retries{}
	l.all.Each(func(n uint64, _ deadLetter) bool {
		l.sent = n - 1
		return false
	})
}
