package mailbox

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// Larger buffers than these (in mails) are released, so that a burst does not occupy memory for ever: keepBusy applies
// between two batches, keepIdle when the actor is idle.
const (
	keepBusy = 1024
	keepIdle = 8
)

// closedNext is the value of next after Close: past the end of every batch, with room for later claims.
const closedNext = math.MaxInt64 / 2

// Mailbox is an unbounded actor.Mailbox for many producers and one actor. Posts append to one slice, the actor
// processes another, and they are swapped when the second is used up. Create it with New; one Mailbox serves one
// actor.
type Mailbox struct {
	// Trace, unless nil, is called with every user mail (unwrapped) right before the actor handles it, in the actor's
	// turn. Set it before the actor is spawned.
	Trace func(mail any)

	undeliverable func(mail any)
	invoker       actor.MessageInvoker
	dispatcher    actor.Dispatcher

	mu        sync.Mutex
	inbox     []any // user mail posted since the last swap
	batch     []any // the user mail being processed; written only by the actor's turn, and only under mu
	system    []any // waiting system mail, oldest first
	started   bool  // the invoker is set: turns may be scheduled
	scheduled bool  // a turn is scheduled or running
	closed    bool  // user mail goes to undeliverable
	suspended bool  // user mail waits for the supervisor; written only by the actor's turn, and only under mu

	next    atomic.Int64 // index of the next mail in batch; incrementing it claims the mail
	pending atomic.Bool  // system is not empty
}

var _ actor.Mailbox = (*Mailbox)(nil)

// New returns an open, empty mailbox. After Close all user mail is passed to undeliverable, without its envelope, on
// the sender's goroutine: undeliverable must not block, must be safe for concurrent calls, and must not be nil.
func New(undeliverable func(mail any)) *Mailbox {
	if undeliverable == nil {
		panic("mailbox: New needs an undeliverable handler")
	}
	return &Mailbox{undeliverable: undeliverable}
}

// PostUserMessage appends mail, or passes it to the undeliverable handler if the mailbox is closed. Mail of one
// producer is handled in the order in which it was posted.
func (m *Mailbox) PostUserMessage(mail any) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		m.undeliverable(actor.UnwrapEnvelopeMessage(mail))
		return
	}
	m.inbox = append(m.inbox, mail)
	m.wake(!m.suspended)
}

// PostSystemMessage appends system mail, which overtakes all user mail. It is accepted even after Close.
func (m *Mailbox) PostSystemMessage(mail any) {
	m.mu.Lock()
	m.system = append(m.system, mail)
	m.pending.Store(true)
	m.wake(true)
}

// wake unlocks mu and schedules a turn if there is work and no turn is scheduled.
func (m *Mailbox) wake(work bool) {
	schedule := work && m.started && !m.scheduled
	if schedule {
		m.scheduled = true
	}
	m.mu.Unlock()
	if schedule {
		m.schedule()
	}
}

// schedule requests a turn.
func (m *Mailbox) schedule() {
	if d, ok := m.dispatcher.(*Dispatcher); ok {
		d.schedule(m)
		return
	}
	m.dispatcher.Schedule(m.process)
}

// RegisterHandlers is called once by the actor system, before Start.
func (m *Mailbox) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	m.invoker, m.dispatcher = invoker, dispatcher
}

// Start allows the first turn. Mail posted before it waits: protoactor registers a name before it sets the mailbox's
// invoker.
func (m *Mailbox) Start() {
	m.mu.Lock()
	m.started = true
	m.wake(m.runnable())
}

// UserMessageCount returns the number of waiting user mails. It is exact only while none is posted or processed.
func (m *Mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.inbox) + m.unclaimed()
}

// Close ends the delivery of user mail and returns the waiting mail, oldest first and without envelopes. Every user
// mail is handled by the actor, or returned by Close, or passed to the undeliverable handler, exactly once. It may be
// called from anywhere, including the actor's own Receive; the mail being handled then counts as handled. A second
// Close returns nothing.
func (m *Mailbox) Close() []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	var left []any
	if first := m.next.Swap(closedNext); first < int64(len(m.batch)) {
		left = append(left, m.batch[first:]...)
	}
	left = append(left, m.inbox...)
	m.inbox = nil
	for i, mail := range left {
		left[i] = actor.UnwrapEnvelopeMessage(mail)
	}
	return left
}

// unclaimed returns the rest of the batch. mu is held.
func (m *Mailbox) unclaimed() int {
	return max(0, int(int64(len(m.batch))-m.next.Load()))
}

// runnable reports whether a turn would have work. mu is held.
func (m *Mailbox) runnable() bool {
	return len(m.system) > 0 || !m.suspended && len(m.inbox)+m.unclaimed() > 0
}
