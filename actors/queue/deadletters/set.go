package deadletters

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/outbox"
	"candlemark/actors/queue/paging"
	"candlemark/internal/clock"
	"candlemark/internal/seqmap"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// Limit is how many dead letters are with the dead-letter actor at a time (PRO-12); the others wait here, taken, counted
// nowhere else.
const Limit = 4096

// ForwardLimit is how many messages that are moved on are on their way, or wait for another attempt: dead letters do not
// stand behind them.
const ForwardLimit = Limit / 2

// Owner is the queue, whose messages these are.
type Owner interface {
	// End ends a message that is not ready: it is a dead letter, or dropped.
	End(h backlog.Handle, why store.Reason)
	// Drop removes a message that is not dead-lettered, and counts it.
	Drop(h backlog.Handle, why store.Reason)
	// Remove forgets a message for good.
	Remove(h backlog.Handle, why store.Reason)
	// Return makes a message ready again.
	Return(h backlog.Handle)
}

// Parts names everything of a queue that its dead letters use.
type Parts struct {
	Owner    Owner
	Queue    *topology.Queue
	VHost    *topology.VHost
	Self     mail.Address
	Settings *policies.QueueSettings
	Messages *backlog.Backlog
	Pager    *paging.Pager
	Out      *outbox.Outbox
}

// Set is the dead letters of a queue. nil has none, and is good for all methods but Add and Forward.
type Set struct {
	Parts
	draining, ended bool
	all             seqmap.Map[deadLetter]
	bytes           int64  // of their bodies
	sent            uint64 // the highest number handed to the dead-letter actor
	out             int    // how many of those it has not answered
	epoch           uint64 // how often what is with the dead-letter actor was lost there
	retries         retries
	// forwarding are those that did not die but are moved on.
	forwarding      int
	forwardingBytes int64
}

type deadLetter struct {
	message backlog.Handle
	reason  store.Reason
	tries   uint8         // how often it came back
	now     bool          // moved on with a TTL of 0
	taken   []mail.Target // who has it nevertheless
}

// Past has the numbers that go on when the queue gets another Set: answers may come late. The zero value is for the first.
type Past struct {
	last, epoch uint64
	delay       int64
}

// New makes the empty Set of a queue.
func New(p Parts) *Set { return &Set{Parts: p} }

// GoOn is called right behind New.
func (l *Set) GoOn(p Past) {
	l.all, l.sent, l.epoch, l.retries.delay = seqmap.After[deadLetter](p.last), p.last, p.epoch, p.delay
}

// Past returns those of this Set, which is empty.
func (l *Set) Past() Past {
	if l == nil {
		return Past{}
	}
	return Past{l.all.Last(), l.epoch, l.retries.delay}
}

// End is called when nobody knows the queue any more, so that every attempt is the last; with entirely, when it waits for
// no answers.
func (l *Set) End(entirely bool) {
	if l != nil {
		l.draining, l.ended = true, entirely
	}
}

// Add makes a taken message a dead letter.
func (l *Set) Add(h backlog.Handle, why store.Reason) {
	l.bytes += l.Messages.Size(h)
	l.all.Append(deadLetter{message: h, reason: why})
}

// Forward moves a taken message on. One that is only now, as a TTL of 0 says, is moved on all the same.
func (l *Set) Forward(h backlog.Handle, now bool) {
	size := l.Messages.Size(h)
	l.forwarding++
	l.forwardingBytes += size
	l.bytes += size
	l.all.Append(deadLetter{message: h, reason: store.Forwarded, now: now})
}

// CanForward reports whether there is room for one more message that is moved on.
func (l *Set) CanForward() bool { return l == nil || l.forwarding < ForwardLimit }

// Counts are the numbers of a Set.
type Counts struct {
	// Len is how many there are, those that are moved on included, and Bytes the length of their bodies.
	Len   int
	Bytes int64
	// Forwarding and ForwardingBytes are those that are moved on.
	Forwarding      int
	ForwardingBytes int64
	// UnderWay is how many the dead-letter actor has not answered, Epoch how often what it had was lost there.
	UnderWay int
	Epoch    uint64
}

// Counts are known, not counted.
func (l *Set) Counts() Counts {
	if l == nil {
		return Counts{}
	}
	return Counts{l.all.Len(), l.bytes, l.forwarding, l.forwardingBytes, l.out, l.epoch}
}

// Retained are the messages, and bytes of bodies, that are dead and count against the limits nevertheless (DL-30), or are
// moved on and have not arrived.
func (l *Set) Retained() (messages, bytes int64) {
	switch {
	case l == nil:
		return 0, 0
	case !l.Settings.DeadLetterAtLeastOnce:
		return int64(l.forwarding), l.forwardingBytes
	}
	return int64(l.all.Len()), l.bytes
}

// Each calls f for each of them, until it returns false.
func (l *Set) Each(f func(h backlog.Handle, why store.Reason) bool) {
	if l != nil {
		l.all.Each(func(_ uint64, x deadLetter) bool { return f(x.message, x.reason) })
	}
}

// discard removes one that is not waited for any more.
func (l *Set) discard(x deadLetter) {
	l.uncount(x)
	l.Owner.Remove(x.message, x.reason)
}

// uncount takes one out of the sums.
func (l *Set) uncount(x deadLetter) {
	size := l.Messages.Size(x.message)
	l.bytes -= size
	if x.reason == store.Forwarded {
		l.forwarding--
		l.forwardingBytes -= size
	}
}

// Answered: the dead-letter actor has taken care of some, leaves others to the queue, or has failed and wants all that it
// has not answered again.
func (l *Set) Answered(m *mail.DeadLetterReply, now clock.Instant) {
	if l == nil || m.Incarnation != l.Queue.Incarnation {
		return
	}
	again := false
	for _, r := range m.IDs {
		l.all.TakeRange(r.First, r.Last, func(_ uint64, x deadLetter) {
			l.out--
			again = again || x.tries > 0
			l.discard(x)
		})
	}
	for _, k := range m.Kept {
		l.kept(k, now)
	}
	if again {
		l.RetryNow(now)
	}
	if m.Lost && m.Epoch == l.epoch {
		l.resend()
	}
}

// resend makes all that are not answered to be sent again, and what waits for
// another attempt with them.
func (l *Set) resend() {
	l.epoch++
	l.out, l.sent, l.retries = 0, l.all.Last(), retries{}
	l.all.Each(func(n uint64, _ deadLetter) bool {
		l.sent = n - 1
		return false
	})
}
