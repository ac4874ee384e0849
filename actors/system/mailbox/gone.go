package mailbox

import "github.com/asynkron/protoactor-go/actor"

// identity is the part of an actor's context that identifies it.
type identity interface {
	Self() *actor.PID
	ActorSystem() *actor.ActorSystem
}

// gone replaces an actor that has stopped: references to its address keep the mailbox alive, but no part of the actor.
type gone struct {
	self   *actor.PID
	system *actor.ActorSystem
}

var _ actor.MessageInvoker = gone{}

// refuse passes mail that a stopping actor has not handled, and all later mail, to the undeliverable handler.
func (m *Mailbox) refuse() {
	for _, mail := range m.Close() {
		m.undeliverable(mail)
	}
}

// forget drops the actor once it has finally stopped, which is when its name is free, and passes on its unhandled mail.
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

// InvokeSystemMessage answers actors that watch a stopped actor, as protoactor does.
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
