package ask

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"
)

// Inbox receives the replies for a non-actor goroutine. It has room for all replies, so that no sender ever waits.
type Inbox struct {
	PID     *actor.PID
	Replies chan any
	system  *actor.ActorSystem
}

var _ actor.Process = (*Inbox)(nil)

// Inbox registers an inbox for at most replies answers; close it.
func (a *Asker) Inbox(replies int) *Inbox {
	in := &Inbox{Replies: make(chan any, replies), system: a.System}
	in.PID, _ = a.System.ProcessRegistry.Add(in, "inbox/"+a.System.ProcessRegistry.NextId())
	return in
}

// Close releases the address.
func (in *Inbox) Close() { in.system.ProcessRegistry.Remove(in.PID) }

// SendUserMessage implements actor.Process.
func (in *Inbox) SendUserMessage(_ *actor.PID, what any) {
	select {
	case in.Replies <- actor.UnwrapEnvelopeMessage(what):
	default: // more replies than announced
	}
}

// SendSystemMessage implements actor.Process. It passes on only the end of watched actors (Asker.Watch).
func (in *Inbox) SendSystemMessage(pid *actor.PID, what any) {
	if _, ended := what.(*actor.Terminated); ended {
		in.SendUserMessage(pid, what)
	}
}

// Stop implements actor.Process.
func (in *Inbox) Stop(*actor.PID) {}

// Next waits for the next reply. The error is ctx's.
func (in *Inbox) Next(ctx context.Context) (any, error) {
	select {
	case r := <-in.Replies:
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
