package connection

import "sync/atomic"

// writer brings the outbox to the socket. Its goroutine lives from the moment
// the outbox wants it until there is nothing left, so an idle connection has
// none.
type writer struct {
	c      *connection
	writes atomic.Uint32 // that went well
	octets atomic.Uint64 // written by them
}

func (w *writer) run() {
	defer w.c.recovered("writer")
	for b := w.c.outbox.Take(); b != nil; b = w.c.outbox.Take() {
		if _, err := w.c.cfg.Conn.Write(b); err != nil {
			w.c.outbox.Close()
			w.c.post(&lost{err})
			return // without another Take: the outbox never starts a writer again
		}
		w.writes.Add(1)
		w.octets.Add(uint64(len(b)))
	}
}

// recovered turns a panic of a goroutine into the end of the connection, not of
// the broker.
func (c *connection) recovered(who string) {
	if reason := recover(); reason != nil {
		c.log.Error().Interface("panic", reason).Str("goroutine", who).Msg("connection failed")
		c.post(&lost{errPanic})
	}
}
