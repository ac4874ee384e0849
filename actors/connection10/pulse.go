package connection10

import (
	"errors"
	"time"

	"candlemark/protocol/amqp10"

	"github.com/asynkron/protoactor-go/actor"
)

// pulse holds the values of the timer's last firing.
type pulse struct {
	every         time.Duration // interval between checks, 0 for none
	read, written uint32        // counters of reads and writes then
	silent        time.Duration // without a read
	paused        time.Duration // clock.Paused at that time
}

// timerFired is mail of the connection's one timer.
type timerFired struct{ armed uint64 }

var errSilentPeer = errors.New("missed frames from client within its idle time-out")

// arm sets the one timer, replacing an earlier setting.
func (c *connection) arm(d time.Duration) {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.armed++
	m := &timerFired{armed: c.armed}
	c.timer = c.cfg.Clock.After(d, func() { c.post(m) })
}

func (c *connection) timerFired(ctx actor.Context, m *timerFired) {
	if m.armed != c.armed {
		return
	}
	switch c.state {
	case starting:
		c.log.Warn().Msg("handshake timeout")
		ctx.Stop(c.self)
	case running:
		c.beat(ctx)
	case closing:
		c.log.Warn().Int("sessions", len(c.links)).Msg("sessions or vhost do not answer, closing without them")
		for _, l := range c.links {
			ctx.Stop(l.pid)
		}
		c.becomeClosed(ctx)
	case closed:
		ctx.Stop(c.self)
	}
}

// silence returns how long the client may send nothing, 0 for no limit. Half of that is announced.
func (c *connection) silence() time.Duration { return time.Duration(c.cfg.Silence) * time.Second }

// startPulse replaces the handshake's deadline. Checks are so frequent that no gap between two writes reaches the
// client's idle time-out, and that its silence is measured to a fourth.
func (c *connection) startPulse() {
	c.timer.Stop()
	c.armed++
	p := &c.pulse
	*p = pulse{every: c.peer.idle / 3, read: c.reader.Input.Reads.Load(), written: c.writer.Writes.Load(), paused: c.cfg.Clock.Paused()}
	if ours := c.silence() / 4; ours > 0 && (p.every == 0 || ours < p.every) {
		p.every = ours
	}
	if p.every > 0 {
		c.arm(p.every)
	}
}

// beat is one check.
func (c *connection) beat(ctx actor.Context) {
	p := &c.pulse
	if paused := c.cfg.Clock.Paused(); paused != p.paused { // the peer may have sent bytes that are not read yet
		p.paused, p.silent = paused, 0
	}
	if now := c.reader.Input.Reads.Load(); now != p.read || c.reader.Waiting.Load() {
		p.read, p.silent = now, 0
	} else if p.silent += p.every; c.silence() > 0 && p.silent >= c.silence() {
		c.lost(ctx, errSilentPeer)
		return
	}
	now := c.writer.Writes.Load()
	if now == p.written && c.peer.idle > 0 {
		b := c.outbox.Begin()
		if c.outbox.RoomFor(b) {
			b = amqp10.AppendHeartbeat(b)
		}
		c.outbox.End(b)
		now++ // its own write is no traffic
	}
	p.written = now
	c.arm(p.every)
}
