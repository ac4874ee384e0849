package lifecycle

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Arm sets the one timer, replacing an earlier setting.
func (l *Connection) Arm(d time.Duration) {
	l.disarm()
	m := &timerFired{armed: l.armed}
	l.timer = l.cfg.Clock.After(d, func() { l.Post(m) })
}

func (l *Connection) disarm() {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.armed++
}

func (l *Connection) timerFired(ctx actor.Context, m *timerFired) {
	if m.armed != l.armed {
		return
	}
	switch l.State {
	case Starting:
		l.Log.Warn().Msg("handshake timeout")
		ctx.Stop(l.Self)
	case Running:
		l.beat(ctx)
	case Closing:
		l.Log.Warn().Int(l.words.Children, len(l.Children)).Msg(l.words.Children + " or vhost do not answer, closing without waiting")
		for _, k := range l.Children {
			ctx.Stop(k.PID)
		}
		l.becomeClosed(ctx)
	case Closed:
		ctx.Stop(l.Self)
	}
}

// startPulse replaces the handshake's deadline.
func (l *Connection) startPulse(p Pulse) {
	l.disarm()
	l.pulse = p
	l.pulse.Start(l.readings())
	if p.Every > 0 {
		l.Arm(p.Every)
	}
}

func (l *Connection) readings() Readings {
	return Readings{
		Read: l.reader.Input.Reads.Load(), Written: l.writer.Writes.Load(),
		Paused: l.cfg.Clock.Paused(), Waiting: l.reader.Waiting.Load(),
	}
}

// beat is one check of the pulse.
func (l *Connection) beat(ctx actor.Context) {
	beat, dead := l.pulse.Check(l.readings())
	if dead {
		l.lose(ctx, errors.New(l.words.Silent))
		return
	}
	if beat {
		b := l.Outbox.Begin()
		if l.Outbox.RoomFor(b) {
			b = l.protocol.Heartbeat(b)
		}
		l.Outbox.End(b)
	}
	l.Arm(l.pulse.Every)
}
