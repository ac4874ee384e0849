package shape

import (
	"cmp"
	"fmt"

	"candlemark/internal/bench/load"
	"candlemark/internal/bench/report"
	"candlemark/internal/bench/wire"
	"candlemark/protocol"
)

// churn makes things and removes them, one after the other on each of some connections. A latency is that of both.
func (b *Bench) churn() error {
	names, exchange := b.queues(), b.Exchange
	switch b.Kind {
	case "consumers", "bindings":
		for _, name := range names {
			if err := b.queue(name, b.QueueArgs); err != nil {
				return err
			}
		}
	}
	if b.Kind == "bindings" && exchange == "" {
		exchange = b.name + "x"
		if err := b.exchange(exchange, cmp.Or(b.Type, "direct"), nil); err != nil {
			return err
		}
	}
	var workers []*worker
	for i := range b.Producers {
		conn, err := b.dial()
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }() // unless it has left
		workers = append(workers, &worker{b, i, conn, names[i%len(names)], exchange})
	}
	b.sample()
	var all load.Group
	for _, w := range workers {
		all.Go(w.work)
	}
	t1, t2 := b.between(all.Done())
	b.run.Stop.Store(true)
	err := all.Wait()
	b.result.Sent, b.result.Received = b.run.Sent.Load(), b.run.Got.Load()
	b.result.Add("turns_per_s", report.Rate(t2.got-t1.got, t2.at.Sub(t1.at)))
	return err
}

// worker is one of the connections.
type worker struct {
	*Bench
	i               int
	conn            *wire.Conn
	queue, exchange string
}

// work goes on until the run is stopped or the limit is reached.
func (w *worker) work() error {
	took := w.run.Latency.Shard(w.i)
	for n := int64(0); !w.run.Stop.Load() && (w.PublishCount == 0 || n < w.PublishCount); n++ {
		began := wire.Now()
		w.run.Sent.Add(1)
		if err := w.turn(fmt.Sprint(w.i, ".", n)); err != nil {
			return fmt.Errorf("connection %d: %w", w.i, err)
		}
		w.run.Got.Add(1)
		took.Record(wire.Now() - began)
	}
	return w.conn.Leave()
}

// turn creates an object and deletes it; its name is unique.
func (w *worker) turn(name string) error {
	switch w.Kind {
	case "connections":
		c, err := w.dial()
		if err != nil {
			return err
		}
		return c.Leave()
	case "channels":
		return w.conn.Settle(1)
	case "queues":
		name = w.name + name
		return w.calls(&protocol.QueueDeclare{Queue: name, Durable: w.Persistent, Arguments: w.QueueArgs}, &protocol.QueueDelete{Queue: name})
	case "consumers":
		return w.calls(&protocol.BasicConsume{Queue: w.queue, ConsumerTag: "c", NoAck: w.AutoAck, Arguments: w.ConsumerArgs}, &protocol.BasicCancel{ConsumerTag: "c"})
	default:
		return w.calls(&protocol.QueueBind{Queue: w.queue, Exchange: w.exchange, RoutingKey: name}, &protocol.QueueUnbind{Queue: w.queue, Exchange: w.exchange, RoutingKey: name})
	}
}

// calls runs methods, one after the other, until one fails, which closes its channel.
func (w *worker) calls(methods ...protocol.Method) error {
	for _, m := range methods {
		if _, err := w.conn.Call(1, m); err != nil {
			return err
		}
	}
	return nil
}
