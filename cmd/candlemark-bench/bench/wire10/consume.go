package wire10

import (
	"errors"
	"net/url"

	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol/amqp10"
)

// unlimited is the credit in messages of a consumer without a limit.
const unlimited = 20_000

// Subscribe begins a session and attaches a link that receives from a queue. passed gets other events that arrive
// before the answer; nil drops them. Subscribe fails for arguments that cannot be encoded.
func (c *Conn) Subscribe(ch uint16, queue string, how wire.Subscription, passed func(*wire.Event)) error {
	if len(how.Arguments) > 0 {
		return errors.New("consumers of AMQP 1.0 have no arguments")
	}
	l := &link{settled: how.AutoAck, prefetch: uint32(how.Prefetch)}
	if how.Prefetch == 0 || how.AutoAck {
		l.prefetch = unlimited
	}
	if err := c.begin(ch-1, l); err != nil {
		return err
	}
	mode := amqp10.SenderUnsettled
	if l.settled {
		mode = amqp10.SenderSettled
	}
	var gets []func(*wire.Event)
	if passed != nil {
		gets = append(gets, passed)
	}
	err := c.attach(ch-1, &amqp10.Attach{
		Role: amqp10.RoleReceiver, SndSettleMode: mode, Target: &amqp10.Target{}, Source: &amqp10.Source{Address: amqp10.Some("/queues/" + url.PathEscape(queue))},
	}, gets...)
	if err != nil {
		return err
	}
	l.given = l.prefetch
	return c.send(ch-1, c.credit(l))
}

// credit grants the broker credit.
func (c *Conn) credit(l *link) *amqp10.Flow {
	return &amqp10.Flow{
		NextIncomingID: amqp10.Some(l.incoming), IncomingWindow: 1<<31 - 1, OutgoingWindow: 1<<31 - 1,
		Handle: amqp10.Some(uint32(0)), DeliveryCount: amqp10.Some(l.count), LinkCredit: amqp10.Some(l.given - l.count),
	}
}

// replenish gives credit again when half of it is used.
func (c *Conn) replenish(ch uint16, l *link) error {
	if l.given-l.count > l.prefetch/2 {
		return nil
	}
	l.given = l.count + l.prefetch
	return c.send(ch, c.credit(l))
}

// Acknowledge accepts all deliveries of a channel up to a tag, and gives credit for as many when half of the credit is
// used.
func (c *Conn) Acknowledge(ch uint16, tag uint64) error {
	l := c.links[ch-1]
	d := &amqp10.Disposition{Role: amqp10.RoleReceiver, First: l.acked, Settled: true, State: amqp10.State{Kind: amqp10.Accepted}}
	if last := uint32(tag); last != l.acked {
		d.Last = amqp10.Some(last)
	}
	l.acked = uint32(tag) + 1
	var room [256]byte
	b := amqp10.AppendFrame(room[:0], ch-1, d)
	if held := l.seen + 1 - l.acked; l.given-l.count <= (l.prefetch-min(held, l.prefetch))/2 {
		l.given = l.count + l.prefetch - min(held, l.prefetch)
		b = amqp10.AppendFrame(b, ch-1, c.credit(l))
	}
	_, err := c.Write(b)
	return err
}
