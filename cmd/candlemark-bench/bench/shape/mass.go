package shape

import (
	"errors"
	"math/rand/v2"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/verify"
	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol"
)

// bystander is a producer and a consumer of another queue at a fixed rate.
type bystander struct {
	*Bench
	run      *load.Run
	book     verify.Queue
	producer *load.Producer
	consumer *load.Consumer
	publish  load.Group
	consume  load.Group
}

func (b *Bench) startBystander() (*bystander, error) {
	queue := b.name + "bystander"
	if err := b.queue(queue, nil); err != nil {
		return nil, err
	}
	s := &bystander{Bench: b, run: load.NewRun(b.run.ID+1, b.run.Wire)}
	var err error
	how := &load.Consuming{Prefetch: 200, AckEvery: 100, AckIdle: true}
	if s.consumer, err = load.NewConsumer(s.run, how, []string{queue}, []load.Sink{load.NewStream(s.run, 0, &s.book, true)}); err != nil {
		return nil, err
	}
	s.consume.Go(s.consumer.Run)
	s.producer, err = load.NewProducer(s.run, &load.Publishing{Key: func(int) string { return queue }, Size: 100, Rate: load.Always(b.Bystander)}, 0, 1)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.publish.Go(s.producer.Lanes[0].Run)
	return s, nil
}

// phase reports the latency since the last phase as a figure with that name.
func (s *bystander) phase(name string) {
	s.result.Latency["bystander_"+name] = s.run.Latency.Interval().Summary()
}

// stop ends it, and looks whether everything came.
func (s *bystander) stop() (err error) {
	s.run.Stop.Store(true)
	if s.producer != nil {
		err = errors.Join(s.publish.Wait(), s.producer.Finish(patience))
		sent := s.producer.Lanes[0].Sent
		until(s.Drain, func() bool { return s.book.Came() >= sent })
		found, _ := s.book.Findings()
		found.Lost = s.book.Missing(0, sent)
		s.result.Verify.Add(found)
	}
	s.consumer.Stop()
	return errors.Join(err, s.consume.Wait())
}

// until asks every few milliseconds until it is so, or the time is over.
func until(limit time.Duration, is func() bool) {
	for end := time.Now().Add(limit); !is() && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
}

// mass is many messages that expire within a short time.
type mass struct {
	*Bench
	queue       string
	first, last int64 // wire.Now, when they are due
}

func (b *Bench) massExpiry() (err error) {
	m := &mass{Bench: b, queue: b.name + "q"}
	if err := b.queue(m.queue, b.QueueArgs); err != nil {
		return err
	}
	by, err := b.startBystander()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, by.stop()) }()
	b.meter.pause(b.Warmup)
	by.run.Latency.Forget()
	b.sample()
	alone := b.read()
	b.meter.pause(min(b.Time, 3*time.Second))
	base := b.read()
	by.phase("alone")
	usual := (base.cpu - alone.cpu) / base.at.Sub(alone.at).Seconds()

	began := wire.Now()
	m.first = began + int64(b.Lead)
	m.last = m.first + int64(b.Within)
	if err := m.fill(); err != nil {
		return err
	}
	r, filled := b.result, wire.Now()
	by.phase("fill")
	r.Add("publish_per_s", report.Rate(r.Sent, time.Duration(filled-began)))
	if filled > m.first {
		return errors.New("publishing took longer than --lead")
	}
	full := b.read()
	r.Add("rss_full_mib", report.MiB(full.rss))
	b.meter.pause(time.Duration(m.first - wire.Now()))
	by.phase("loaded")
	before := b.read()
	if err := m.empty(); err != nil {
		return err
	}
	after := b.read()
	by.phase("storm")
	if b.broker != nil {
		net := after.cpu - before.cpu - usual*after.at.Sub(before.at).Seconds()
		r.Add("storm_cpu_s_per_million", stats.Round(net/float64(max(1, r.Sent))*1e6, 3)) // without the bystander's
	}
	return nil
}

// fill publishes everything, at the rate of a producer if there is one; each message is due at a random moment.
func (m *mass) fill() error {
	conn, err := m.dial()
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 1))
	body := make([]byte, max(m.Size, m.MaxSize))
	p := wire.Publish{Channel: 1, Key: m.queue, Properties: m.Properties}
	var buf []byte
	rate, start := m.ProducerRate(), wire.Now()
	for i := range m.PublishCount {
		now := wire.Now()
		left := time.Duration(m.first + random.Int64N(int64(m.Within)) - now)
		load.Expiring(&p, max(left, time.Millisecond))
		p.Body = body[:m.Size+random.IntN(len(body)-m.Size+1)]
		buf, _ = p.Append(buf, conn.FrameMax)
		wait := rate.When(float64(i+1)) - time.Duration(now-start)
		if len(buf) > 32<<10 || wait > 0 || i == m.PublishCount-1 {
			if _, err := conn.Write(buf); err != nil {
				return conn.Why(err)
			}
			m.result.Sent, buf = i+1, buf[:0]
			m.run.Sent.Store(i + 1)
			m.meter.pause(wait)
			if m.Context.Err() != nil {
				break
			}
		}
	}
	return errors.Join(conn.Settle(1), conn.Leave())
}

// empty looks how long it takes until the queue is empty.
func (m *mass) empty() error {
	var overdue float64
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		n, err := m.ready(m.queue)
		if err != nil {
			return err
		}
		now := wire.Now()
		ideal := float64(m.result.Sent) * min(1, max(0, 1-float64(now-m.first)/float64(m.Within)))
		overdue = max(overdue, float64(n)-ideal)
		if n == 0 || now > m.last+int64(m.Drain) {
			m.result.Add("empty_after_last_due_ms", stats.Millis(now-m.last))
			m.result.Add("most_overdue_messages", max(0, overdue))
			m.result.Add("left_messages", float64(n))
			m.result.Verify.Lost += n // they did not expire
			return nil
		}
		select {
		case <-look.C:
		case <-m.meter.tick.C:
			m.meter.print()
		}
	}
}

// purge frees the memory of a queue that the run deletes anyway.
func (b *Bench) purge(queue string) error {
	_, err := b.control.Call(1, &protocol.QueuePurge{Queue: queue})
	return err
}
