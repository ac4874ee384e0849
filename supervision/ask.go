package supervision

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"
)

// inbox is where a goroutine that is no actor gets its replies: as many as it
// has asked for, so that nobody who answers ever waits for it.
type inbox struct {
	node    *Node
	pid     *actor.PID
	replies chan any
	// watching: it wants to know of the end of whom it watches.
	watching bool
}

var _ actor.Process = (*inbox)(nil)

// newInbox registers an inbox for at most replies answers; close it.
func (n *Node) newInbox(replies int) *inbox {
	in := &inbox{node: n, replies: make(chan any, replies)}
	registry := n.system.ProcessRegistry
	in.pid, _ = registry.Add(in, "inbox/"+registry.NextId())
	return in
}

func (in *inbox) close() { in.node.system.ProcessRegistry.Remove(in.pid) }

// SendUserMessage implements actor.Process.
func (in *inbox) SendUserMessage(_ *actor.PID, what any) {
	select {
	case in.replies <- actor.UnwrapEnvelopeMessage(what):
	default: // more than was asked for
	}
}

// SendSystemMessage implements actor.Process.
func (in *inbox) SendSystemMessage(pid *actor.PID, what any) {
	if in.watching {
		in.SendUserMessage(pid, what)
	}
}

// Stop implements actor.Process.
func (in *inbox) Stop(*actor.PID) {}

func (in *inbox) next(ctx context.Context) (any, error) {
	select {
	case r := <-in.replies:
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask sends what question makes for the address of the answer, and waits for it.
func ask[T any](ctx context.Context, n *Node, to *actor.PID, question func(replyTo *actor.PID) any) (T, error) {
	in := n.newInbox(1)
	defer in.close()
	n.post(to, question(in.pid))
	var none T
	r, err := in.next(ctx)
	if err != nil {
		return none, err
	}
	return r.(T), nil
}
