package load

import (
	"time"

	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/cmd/candlemark-bench/bench/wire10"
)

// client is the connection of a producer or a consumer, in one of the protocols. Channels are numbered from 1 on; in AMQP 1.0 they are
// sessions with a link each.
type client interface {
	// Next reads the next event, and Closed returns why the broker closed something with it; Stamp is when it came.
	Next(ev *wire.Event) error
	Closed(ev *wire.Event) error
	Stamp() int64
	// Buffered reports whether more has arrived.
	Buffered() bool

	// Publisher begins to publish messages such as p. Credit is the number of the last one that there is credit for; more comes as events.
	Publisher(ch uint16, p *wire.Publish, confirms bool) error
	Credit(ch uint16) uint64
	Batch(n int, p *wire.Publish) *wire.Batch
	Append(dst []byte, p *wire.Publish) []byte
	Write(b []byte) (int, error)
	Finish(ch uint16) error
	Finished(ev *wire.Event) bool
	End() error

	Subscribe(ch uint16, queue string, how wire.Subscription, passed func(*wire.Event)) error
	Acknowledge(ch uint16, tag uint64) error

	SetDeadline(t time.Time) error
	SetReadDeadline(t time.Time) error
	Leave() error
	Close() error
}

// dial connects, logs in and opens the virtual host.
func (r *Run) dial(cfg wire.Config) (client, error) {
	if r.AMQP10 {
		return wire10.Dial(cfg)
	}
	return wire.Dial(cfg)
}
