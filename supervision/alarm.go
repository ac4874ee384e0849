package supervision

import (
	"cmp"

	"candlemark/actors/mail"

	"github.com/asynkron/protoactor-go/actor"
)

// Block begins an alarm: from now on publishing connections are not read, and
// told the reason ("low on memory") if they asked to be, at their next publish.
// One during another changes nothing. It does not wait for the connections.
func (n *Node) Block(reason string) {
	n.post(n.root, mail.Block{Reason: cmp.Or(reason, "low on resources")})
}

// Unblock ends the alarm.
func (n *Node) Unblock() { n.post(n.root, mail.Unblock{}) }

func (t *tree) block(ctx actor.Context, m mail.Block) {
	if t.alarm != nil {
		return
	}
	t.alarm = &m
	for _, pid := range t.connections {
		ctx.Send(pid, t.alarm)
	}
}

func (t *tree) unblock(ctx actor.Context) {
	t.alarm = nil
	for _, pid := range t.connections {
		ctx.Send(pid, &mail.Unblock{})
	}
}
