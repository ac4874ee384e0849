package mailbox

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// process is one turn of the actor: at most Throughput mails or turnTime, then it goes to the end of the dispatcher's queue.
func (m *Mailbox) process() {
	m.run()
	m.mu.Lock()
	m.scheduled = m.runnable()
	again := m.scheduled
	if !again {
		m.slim()
	}
	m.mu.Unlock()
	if again {
		m.schedule()
	}
}

// run handles mail until there is none, the actor is suspended, or the turn's limit is reached. A panic loses the mail
// that caused it and is escalated to the supervisor; the mail after it stays in place.
func (m *Mailbox) run() {
	var mail any
	defer func() {
		if reason := recover(); reason != nil {
			m.invoker.EscalateFailure(reason, mail)
		}
	}()
	var begun time.Time
	limit := m.dispatcher.Throughput()
	for left := limit; left > 0; left-- {
		switch {
		case left == limit-lookEvery:
			begun = time.Now()
		case left < limit && left%lookEvery == 0 && time.Since(begun) > turnTime:
			return
		}
		if m.pending.Load() {
			mail = m.takeSystem()
			m.runSystem(mail)
			continue
		}
		if m.suspended {
			return
		}
		var ok bool
		if mail, ok = m.take(); !ok {
			return
		}
		if m.Trace != nil {
			m.Trace(actor.UnwrapEnvelopeMessage(mail))
		}
		m.invoker.InvokeUserMessage(mail)
	}
}

func (m *Mailbox) runSystem(mail any) {
	switch mail.(type) {
	case *actor.SuspendMailbox:
		m.suspend(true)
	case *actor.ResumeMailbox:
		m.suspend(false)
	case *actor.Stop:
		m.invoker.InvokeSystemMessage(mail)
		m.refuse() // its children are stopping; a child spawned now would not, and the actor would wait for it forever
		m.forget()
	case *actor.Terminated: // the end of the last child completes the actor's own end
		m.invoker.InvokeSystemMessage(mail)
		m.forget()
	default:
		m.invoker.InvokeSystemMessage(mail)
	}
}

func (m *Mailbox) suspend(on bool) {
	m.mu.Lock()
	m.suspended = on
	m.mu.Unlock()
}

// take claims the oldest user mail. The claim is atomic because Close may be called on another goroutine.
func (m *Mailbox) take() (any, bool) {
	i := m.next.Add(1) - 1
	if i >= int64(len(m.batch)) {
		if !m.swap() {
			return nil, false
		}
		i = m.next.Add(1) - 1
		if i >= int64(len(m.batch)) {
			return nil, false // closed since the swap
		}
	}
	mail := m.batch[i]
	m.batch[i] = nil
	return mail, true
}

// swap makes the posted mail the batch and reuses the old batch for new posts. After Close nothing is posted.
func (m *Mailbox) swap() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.inbox) == 0 {
		return false
	}
	spare := m.batch[:0]
	if cap(spare) > keepBusy {
		spare = nil
	}
	m.batch, m.inbox = m.inbox, spare
	m.next.Store(0)
	return true
}

// takeSystem removes the oldest system mail; pending is set, so there is one, and only the actor's turn removes any.
func (m *Mailbox) takeSystem() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	mail := m.system[0]
	m.system[0] = nil
	m.system = m.system[1:]
	if len(m.system) == 0 {
		m.system = nil
		m.pending.Store(false)
	}
	return mail
}

// slim releases large buffers before the actor becomes idle. mu is held, and no user mail can be processed, because
// there is none or the actor is suspended and keeps it.
func (m *Mailbox) slim() {
	if m.unclaimed() > 0 {
		return
	}
	if m.closed || cap(m.batch) > keepIdle {
		m.batch = nil
	}
	if len(m.inbox) == 0 && cap(m.inbox) > keepIdle {
		m.inbox = nil
	}
}
