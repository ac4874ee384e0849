package lifecycle

import (
	"candlemark/protocol"
)

// Alarm is the connection's view of a resource alarm. As in RabbitMQ it affects connections that publish: after the
// first publish during an alarm nothing is read until it is over. The reader sees the alarm in the valve, at once; the
// actor is informed by mail.
type Alarm struct {
	Reason string // "" without an alarm
	Held   bool   // the reader waits
}

// heldUp records that the reader waits. The mail with the reason may come later; if the alarm is over, the reader
// already knows.
func (l *Connection) heldUp() {
	l.Alarm.Held = l.Alarm.Reason != "" || l.cfg.Valve.Shut()
	l.protocol.Alarmed()
}

// unblock ends the alarm.
func (l *Connection) unblock() {
	select {
	case l.over <- struct{}{}:
	default:
	}
	l.Alarm = Alarm{}
	l.protocol.Alarmed()
}

// shown returns the state for administrators: during an alarm "blocked" if the connection has published, otherwise
// "blocking".
func (l *Connection) shown() string {
	switch {
	case l.State != Running || l.Alarm.Reason == "":
		return l.State.String()
	case l.Alarm.Held:
		return "blocked"
	}
	return "blocking"
}

// begun is a connection as the broker's intake sees it.
type begun struct{ l *Connection }

// Excused implements budget.Peer: a client is excused while it waits for the broker's queues or for other clients,
// unless it does not read its output.
func (b begun) Excused() bool { return b.l.reader.Crowded.Load() && b.l.Outbox.HasRoom() }

// Evict implements budget.Peer.
func (b begun) Evict() { b.l.Post(&evicted{}) }

var errEvicted = protocol.ConnectionErrorf(protocol.ResourceError,
	"a message or transaction was not completed in time while memory was short")
