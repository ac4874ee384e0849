package connection

import (
	"errors"
	"time"

	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// heartbeat holds the values of the heartbeat timer's last firing.
type heartbeat struct {
	read, written uint32        // counters of reads and writes then
	silent        int           // firings in a row without a read
	paused        time.Duration // clock.Paused at that time
}

// silentMost is the number of half intervals without a byte after which a peer is dead. The first may have started
// just before a byte came, so this is never less than two intervals after it.
const silentMost = 4

// timerFired is mail of the connection's one timer.
type timerFired struct{ armed uint64 }

var errSilentPeer = errors.New("missed heartbeats from client")

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
		c.log.Warn().Int("channels", len(c.channels)).Msg("channels or vhost do not answer, closing without them")
		for _, l := range c.channels {
			ctx.Stop(l.pid)
		}
		c.becomeClosed(ctx)
	case closed:
		ctx.Stop(c.self)
	}
}

// startHeartbeat replaces the handshake's deadline.
func (c *connection) startHeartbeat() {
	if c.session.heartbeat == 0 {
		c.armed++
		c.timer.Stop()
		return
	}
	c.heartbeat = heartbeat{read: c.reader.Input.Reads.Load(), written: c.writer.Writes.Load(), paused: c.cfg.Clock.Paused()}
	c.arm(c.interval() / 2)
}

func (c *connection) interval() time.Duration {
	return time.Duration(c.session.heartbeat) * time.Second
}

// beat runs half a heartbeat interval after the last one [AMQP 4.2.7].
func (c *connection) beat(ctx actor.Context) {
	p := &c.heartbeat
	if paused := c.cfg.Clock.Paused(); paused != p.paused { // the peer may have sent bytes that are not read yet
		p.paused, p.silent = paused, 0
	}
	if now := c.reader.Input.Reads.Load(); now != p.read || c.reader.Waiting.Load() {
		p.read, p.silent = now, 0
	} else if p.silent++; p.silent >= silentMost {
		c.lost(ctx, errSilentPeer)
		return
	}
	now := c.writer.Writes.Load()
	if now == p.written {
		b := c.outbox.Begin()
		if c.outbox.RoomFor(b) {
			b = protocol.AppendHeartbeat(b)
		}
		c.outbox.End(b)
		now++ // its own write is no traffic
	}
	p.written = now
	c.arm(c.interval() / 2)
}
