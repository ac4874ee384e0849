package lifecycle

import (
	"fmt"
	"sync/atomic"

	"candlemark/actors/client/connevents"
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// Child is one open channel or session.
type Child struct {
	ID    uint16
	PID   *actor.PID
	Ended atomic.Bool

	// For the reader only:
	Closing bool // the client has sent its last input
	runs    runs
}

// Spawn counts a channel or session towards its user's limit, and spawns it.
func (l *Connection) Spawn(ctx actor.Context, id uint16, props func() *actor.Props) (*actor.PID, error) {
	if err := l.Objects.Room(budget.PriceChannel); err != nil {
		return nil, protocol.ConnectionErrorf(protocol.NotAllowed, "no more %s: %v", l.words.Children, err)
	}
	if q := l.cfg.Quota; q != nil {
		if err := q.OpenChannel(l.peer.User.Name, l.cfg.Node); err != nil {
			return nil, err
		}
	}
	l.Objects.Hold(budget.PriceChannel)
	// The serial makes names unique: a number may be reused before the name of its last owner is free.
	l.serial++
	pid, err := ctx.SpawnNamed(props(), fmt.Sprintf("channel/%d.%d", id, l.serial))
	if err != nil {
		l.discount()
		return nil, fmt.Errorf("spawning %s %d: %w", l.words.Child, id, err)
	}
	return pid, nil
}

// Add adds a channel or session that was spawned. The actor keeps it until it has ended, the reader until the client uses its number again.
func (l *Connection) Add(k *Child) {
	if l.Children == nil {
		l.Children = make(map[uint16]*Child)
	}
	l.Children[k.ID] = k
	connevents.Channel(l.cfg.Events, "channel.created", l.peer.By, k.ID, k.PID.Id, l.info)
}

// Remove frees the number of a channel or session that has ended. It reports whether the number belonged to who; nil
// matches any actor.
func (l *Connection) Remove(id uint16, who mail.Address) bool {
	k := l.Children[id]
	if k == nil || who != nil && !mail.Same(k.PID, who) {
		return false
	}
	k.Ended.Store(true)
	delete(l.Children, id)
	l.forget(k)
	return true
}

func (l *Connection) forget(k *Child) {
	connevents.Channel(l.cfg.Events, "channel.closed", l.peer.By, k.ID, k.PID.Id, l.info)
	l.discount()
}

func (l *Connection) discount() {
	l.Objects.Hold(-budget.PriceChannel)
	if l.cfg.Quota != nil {
		l.cfg.Quota.CloseChannel(l.peer.User.Name)
	}
}

// peerGone handles the end of an actor.
func (l *Connection) peerGone(ctx actor.Context, who mail.Address) {
	for _, k := range l.Children {
		if mail.Same(k.PID, who) {
			l.protocol.ChildFailed(ctx, k)
			return
		}
	}
}
