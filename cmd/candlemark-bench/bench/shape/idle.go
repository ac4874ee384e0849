package shape

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/cmd/candlemark-bench/bench/proc"
	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol"
)

// idle is things that cost memory though nothing happens.
func (b *Bench) idle() error {
	if b.broker != nil {
		b.broker.Settled(b.Standing)
	}
	b.sample()
	began := time.Now()
	var drop func() error
	var err error
	switch b.Kind {
	case "queues":
		drop, err = b.leases()
	case "messages":
		drop, err = b.messages()
	default:
		drop, err = b.connections()
	}
	took := time.Since(began)
	if err == nil {
		b.result.Add("made_per_s", report.Rate(int64(b.Count), took))
		b.rest()
	}
	if drop != nil {
		err = errors.Join(err, drop())
	}
	return err
}

// rest looks at the cost while nothing happens.
func (b *Bench) rest() {
	if b.broker == nil {
		return
	}
	var full proc.Sample
	if full = b.broker.Settled(b.Standing); b.Count > 0 {
		b.result.Add("rss_bytes_each", stats.Round(float64(full.RSS-b.sampled.RSS)/float64(b.Count), 0))
	}
	b.meter.pause(b.Time)
	last := b.broker.Sample()
	b.result.Add("idle_cores", stats.Round((last.CPU-full.CPU)/max(last.At.Sub(full.At).Seconds(), 1e-3), 4))
}

// connections opens connections with channels.
func (b *Bench) connections() (drop func() error, err error) {
	cfg := b.run.Wire
	cfg.ReadBuffer = 1024
	all := make([]*wire.Conn, b.Count)
	var next atomic.Int64
	var open load.Group
	for range 16 {
		open.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
				c, err := wire.Dial(cfg)
				if err != nil {
					return err
				}
				all[i] = c
				for ch := range b.ProducerChannels {
					if err := c.Open(uint16(ch + 1)); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	err = open.Wait()
	stop := make(chan struct{})
	var beats load.Group
	beats.Go(func() error { return beat(all, time.Duration(b.Heartbeat)*time.Second/2, stop) })
	return func() error {
		close(stop)
		err := beats.Wait()
		for _, c := range all {
			if c != nil {
				err = errors.Join(err, c.Leave())
			}
		}
		return err
	}, err
}

// beat sends heartbeats, spread over time, until stop is closed.
func beat(all []*wire.Conn, every time.Duration, stop <-chan struct{}) error {
	if every <= 0 {
		return nil
	}
	tick := time.NewTicker(max(every/time.Duration(max(1, len(all))), 100*time.Microsecond))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		case <-tick.C:
		}
		if c := all[i%len(all)]; c != nil {
			if _, err := c.Write(protocol.AppendHeartbeat(nil)); err != nil {
				return fmt.Errorf("connection %d: %w", i%len(all), err)
			}
		}
	}
}

// messages fills a queue.
func (b *Bench) messages() (drop func() error, err error) {
	queue := b.queues()[0]
	if err := b.queue(queue, b.QueueArgs); err != nil {
		return nil, err
	}
	p, err := load.NewProducer(b.run, &load.Publishing{
		Key: func(int) string { return queue }, Properties: b.Properties, Size: b.Size, Window: 2000, Limit: int64(b.Count),
	}, 0, 1)
	if err != nil {
		return nil, err
	}
	err = errors.Join(p.Lanes[0].Run(), p.Finish(patience))
	b.result.Sent = p.Lanes[0].Sent
	return func() error {
		n, err := b.ready(queue)
		b.result.Verify.Lost += max(0, int64(b.Count)-n)
		return errors.Join(err, b.purge(queue))
	}, err
}

// sampled is how many queues are watched when their leases end.
const sampled = 100

// leases declares queues that end themselves.
func (b *Bench) leases() (drop func() error, err error) {
	conn, err := b.dial()
	if err != nil {
		return nil, err
	}
	due, every := map[string]int64{}, max(1, b.Count/sampled)
	args := protocol.Table{{Key: "x-expires", Value: b.Lease.Milliseconds()}}
	var buf []byte
	for i := range b.Count {
		name := fmt.Sprint(b.name, "lease", i)
		q := &protocol.QueueDeclare{Queue: name, Durable: b.Persistent, NoWait: i%every != 0, Arguments: append(args, b.QueueArgs...)}
		if q.NoWait {
			buf = protocol.AppendMethodFrame(buf, 1, q)
			continue
		}
		_, err := conn.Write(buf)
		if err == nil {
			due[name] = wire.Now() + int64(b.Lease) // at the earliest: the broker has not got it yet
			_, err = conn.Call(1, q)
		}
		if buf = buf[:0]; err != nil {
			return conn.Close, err
		}
	}
	if _, err := conn.Write(buf); err != nil {
		return conn.Close, conn.Why(err)
	}
	_, err = conn.Call(1, &protocol.BasicQos{}) // the answer comes after everything
	return func() error { return errors.Join(b.ended(conn, due), conn.Leave()) }, err
}

// ended looks when queues end, without keeping them alive: a message with a TTL of 0 is dropped by a queue, and returned if there is
// none.
func (b *Bench) ended(conn *wire.Conn, due map[string]int64) error {
	late := stats.NewSigned()
	b.late = map[string]*stats.Signed{"expiry": late}
	conn.Passed = func(ev *wire.Event) {
		if at, known := due[string(ev.Body)]; known && ev.Kind == wire.Return {
			late.Record(conn.Stamp() - at)
			delete(due, string(ev.Body))
		}
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	b.result.Sent = int64(len(due))
	for end := time.Now().Add(b.Lease + b.Drain); len(due) > 0 && time.Now().Before(end) && b.Context.Err() == nil; {
		var buf []byte
		for name := range due {
			p := wire.Publish{Channel: 1, Key: name, Mandatory: true, Body: []byte(name)}
			load.Expiring(&p, 0)
			buf, _ = p.Append(buf, conn.FrameMax)
		}
		if _, err := conn.Write(buf); err != nil {
			return conn.Why(err)
		}
		if _, err := conn.Call(1, &protocol.BasicQos{}); err != nil {
			return err
		}
		select {
		case <-look.C:
		case <-b.meter.tick.C:
			b.meter.print()
		}
	}
	b.result.Verify.Lost, b.result.Verify.Early = int64(len(due)), late.Early()
	b.result.Received = b.result.Sent - int64(len(due))
	return nil
}
