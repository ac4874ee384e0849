package mailbox

import "github.com/asynkron/protoactor-go/actor"

// identity is the part of an actor's context that names it.
type identity interface {
	Self() *actor.PID
	ActorSystem() *actor.ActorSystem
}

// gone takes the place of an actor that has stopped: whoever keeps its address keeps
// the mailbox, and with it nothing of what the actor was.
type gone struct {
	self   *actor.PID
	system *actor.ActorSystem
}

var _ actor.MessageInvoker = gone{}

// refuse hands on what an actor that stops has not taken, and all that comes later.
func (m *Mailbox) refuse() {
	for _, mail := range m.Close() {
		m.undeliverable(mail)
	}
}

// forget lets go of the actor once it has stopped for good, which is when its name is
// free, and hands on what nobody will take.
func (m *Mailbox) forget() {
	who, ok := m.invoker.(identity)
	if !ok {
		return
	}
	if _, lives := who.ActorSystem().ProcessRegistry.GetLocal(who.Self().Id); lives {
		return
	}
	m.invoker = gone{who.Self(), who.ActorSystem()}
	m.refuse()
}

// InvokeSystemMessage answers whoever watches an actor that has stopped, as protoactor does.
func (g gone) InvokeSystemMessage(mail any) {
	if w, ok := mail.(*actor.Watch); ok {
		if p, lives := g.system.ProcessRegistry.Get(w.Watcher); lives {
			p.SendSystemMessage(w.Watcher, &actor.Terminated{Who: g.self})
		}
	}
}

// InvokeUserMessage is never called: the mailbox is closed.
func (g gone) InvokeUserMessage(any) {}

// EscalateFailure is never called: nothing here panics.
func (g gone) EscalateFailure(any, any) {}
