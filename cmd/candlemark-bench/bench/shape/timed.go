package shape

import (
	"errors"
	"fmt"
	"sync/atomic"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/verify"
	"candlemark/protocol"
)

// dueMessages sends messages that reach a queue when they are due.
type dueMessages struct {
	*Bench
	target    string // the queue where they come
	book      *verify.Queue
	all       *stats.Signed
	groups    []*stats.Signed // by producer
	notBefore atomic.Int64    // wire.Now before which none is due
	consumer  *load.Consumer
	consume   load.Group
	lanes     []*load.Lane
}

// arrive declares the target and consumes it. Lateness is reported for all messages under name, and separately for
// producers with names of their own.
func (b *Bench) arrive(name string, producers ...string) (*dueMessages, error) {
	t := &dueMessages{Bench: b, target: b.name + "due", book: &verify.Queue{AnyOrder: !b.TTL.Fixed()}}
	t.all = stats.NewSigned()
	b.late = map[string]*stats.Signed{name: t.all}
	for _, group := range producers {
		g := stats.NewSigned()
		b.late[name+"_"+group] = g
		t.groups = append(t.groups, g)
	}
	sink := load.NewLate(t.book, func(producer uint32) []*stats.Signed {
		if int(producer) < len(t.groups) {
			return []*stats.Signed{t.all, t.groups[producer]}
		}
		return []*stats.Signed{t.all}
	}, t.notBefore.Load)
	err := b.queue(t.target, nil)
	if err == nil {
		t.consumer, err = load.NewConsumer(b.run, &load.Consuming{AutoAck: true}, []string{t.target}, []load.Sink{sink})
	}
	if err != nil {
		return nil, err
	}
	t.consume.Go(t.consumer.Run)
	return t, nil
}

// publish publishes as a producer with the next number, and returns when the broker has taken everything.
func (t *dueMessages) publish(how load.Publishing) error {
	p, err := load.NewProducer(t.run, &how, len(t.lanes), 1)
	if err != nil {
		return err
	}
	var publish load.Group
	publish.Go(p.Lanes[0].Run)
	t.meter.until(publish.Done(), 0)
	if t.Context.Err() != nil {
		t.run.Stop.Store(true)
	}
	t.lanes = append(t.lanes, p.Lanes[0])
	return errors.Join(publish.Wait(), p.Finish(patience))
}

// settled waits until all sent messages have arrived, except but.
func (t *dueMessages) settled(but int64) {
	t.meter.drained(t.book.Came, t.run.Sent.Load()-but, t.Drain+t.TTL.Max(), t.consume.Done())
}

// finish ends the consumer and fills in the result; err is an earlier error.
func (t *dueMessages) finish(err error) error {
	t.consumer.Stop()
	err = errors.Join(err, t.consume.Wait())
	r := t.result
	found, redelivered := t.book.Findings()
	r.Verify.Add(found)
	r.Redelivered, r.Received = redelivered, t.run.Got.Load()
	for _, l := range t.lanes {
		r.Sent += l.Sent
		r.Refused += l.Refused
		r.Verify.Lost += max(0, t.book.Missing(l.ID, l.Sent)-l.Refused)
	}
	r.Verify.Early = t.all.Early()
	return err
}

// publishing returns how timed messages are published to an exchange with a key.
func (b *Bench) publishing(exchange, key string) load.Publishing {
	return load.Publishing{
		Exchange: exchange, Key: func(int) string { return key }, Properties: b.Properties, Size: b.Size, Batch: b.Batch,
		Window: max(b.Confirm, 0), Rate: b.ProducerRate(), Limit: b.PublishCount, TTL: b.TTL,
	}
}

// ready returns how many messages of a queue are ready.
func (b *Bench) ready(queue string) (int64, error) {
	m, err := b.control.Call(1, &protocol.QueueDeclare{Queue: queue, Passive: true})
	if err != nil {
		return 0, err
	}
	if ok, is := m.(*protocol.QueueDeclareOk); is {
		return int64(ok.MessageCount), nil
	}
	return 0, fmt.Errorf("%T is no answer to queue.declare", m)
}

// toTarget are arguments with which a queue dead-letters to another one.
func toTarget(target string) protocol.Table {
	return protocol.Table{{Key: "x-dead-letter-exchange", Value: ""}, {Key: "x-dead-letter-routing-key", Value: target}}
}
