package shape

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/verify"
)

// stream is producers, queues and consumers.
type stream struct {
	*Bench
	names     []string // of the queues
	books     []*verify.Queue
	exchange  string
	all       bool // each message goes to all queues
	giving    load.Publishing
	taking    load.Consuming
	producers []*load.Producer
	consumers []*load.Consumer
	consume   load.Group
}

func (b *Bench) stream() error {
	s := &stream{Bench: b, names: b.queues(), exchange: b.Exchange}
	if err := s.declare(); err != nil {
		return err
	}
	s.giving = load.Publishing{
		Exchange: s.exchange, Key: s.key, Mandatory: b.Mandatory, Properties: b.Properties, Size: b.Size, Batch: b.Batch,
		Window: max(b.Confirm, 0), Rate: b.ProducerRate(), Limit: b.PublishCount, TTL: b.TTL,
	}
	if b.Backlog > 0 {
		s.giving.Hold = func() bool { return b.run.Sent.Load()*s.copies()-b.run.Got.Load() > b.Backlog }
	}
	s.taking = load.Consuming{
		AutoAck: b.AutoAck, Prefetch: b.Prefetch, AckEvery: b.AckEvery, AckIdle: b.AckIdle, Rate: b.ConsumerRate, Latency: b.Latency(), Limit: b.TakeCount, Arguments: b.ConsumerArgs,
	}
	for i := range b.Producers {
		p, err := load.NewProducer(b.run, &s.giving, i*b.ProducerChannels, b.ProducerChannels)
		if err != nil {
			return err
		}
		s.producers = append(s.producers, p)
	}
	if !b.ConsumeAfter {
		if err := s.startConsumers(); err != nil {
			return err
		}
	}
	return s.work()
}

// declare makes exchange, queues and bindings.
func (s *stream) declare() error {
	kind := s.Type
	if s.exchange == "" && kind != "" {
		s.exchange = s.name + "x"
		if err := s.Bench.exchange(s.exchange, kind, nil); err != nil {
			return err
		}
	}
	s.all = s.exchange != "" && (kind == "fanout" || kind == "headers" || s.Key != "")
	for i, name := range s.names {
		s.books = append(s.books, &verify.Queue{})
		if err := s.queue(name, s.QueueArgs); err != nil {
			return err
		}
		if s.exchange != "" && !s.Predeclared {
			if err := s.bind(name, s.exchange, s.key(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// key returns the routing key of a producer, or of the binding of a queue.
func (s *stream) key(i int) string {
	if s.Key != "" {
		return s.Key
	}
	return s.names[i%len(s.names)]
}

// goesTo reports whether a queue gets what a producer sends.
func (s *stream) goesTo(producer uint32, queue int) bool {
	return s.all || s.key(int(producer)) == s.names[queue] || s.Key == "" && int(producer)%len(s.names) == queue
}

// copies returns how many queues get a message.
func (s *stream) copies() int64 {
	if s.all {
		return int64(len(s.names))
	}
	return 1
}

// came returns how many messages have come from all queues, without duplicates.
func (s *stream) came() (n int64) {
	for _, book := range s.books {
		n += book.Came()
	}
	return n
}

func (s *stream) startConsumers() error {
	channels := s.ConsumerChannels
	for i := range s.Consumers {
		var names []string
		var sinks []load.Sink
		for j := range channels {
			at := (i*channels + j) % len(s.names)
			names = append(names, s.names[at])
			sinks = append(sinks, load.NewStream(s.run, i*channels+j, s.books[at], !s.giving.Rate.IsZero()))
		}
		c, err := load.NewConsumer(s.run, &s.taking, names, sinks)
		if err != nil {
			return err
		}
		s.consumers = append(s.consumers, c)
		s.consume.Go(c.Run)
	}
	return nil
}

// lanes returns the channels of all producers.
func (s *stream) lanes() (all []*load.Lane) {
	for _, p := range s.producers {
		all = append(all, p.Lanes...)
	}
	return all
}

// work publishes until the time is over, then waits for the rest.
func (s *stream) work() error {
	var publish load.Group
	s.sample()
	t0 := s.read()
	for _, l := range s.lanes() {
		publish.Go(l.Run)
	}
	var published, consumed <-chan struct{}
	if s.Producers > 0 {
		published = publish.Done()
	}
	if len(s.consumers) > 0 {
		consumed = s.consume.Done()
	}
	t1, t2 := s.middle(published, consumed)
	s.run.Stop.Store(true)
	if err := publish.Wait(); err != nil {
		return errors.Join(err, s.leave())
	}
	var finish load.Group
	for _, p := range s.producers {
		finish.Go(func() error { return p.Finish(s.Drain) })
	}
	if err := finish.Wait(); err != nil {
		return errors.Join(fmt.Errorf("when all was published: %w", err), s.leave())
	}
	taken := s.read()
	if s.ConsumeAfter {
		if err := s.startConsumers(); err != nil {
			return err
		}
		consumed = s.consume.Done()
	}
	r := s.result
	for _, l := range s.lanes() {
		r.Sent += l.Sent
		r.Refused += l.Refused
		r.Returned += l.Returned.Load()
	}
	if s.Consumers > 0 && s.TTL.IsZero() && s.Producers > 0 {
		s.meter.drained(s.came, (r.Sent-r.Refused-r.Returned)*s.copies(), s.Drain, consumed)
	}
	t3 := s.read()
	err := s.leave()
	s.count()
	s.figures(t0, t1, t2, taken, t3)
	return err
}

// middle lasts as long as is to be published, or until all that is published or consumed.
func (s *stream) middle(published, consumed <-chan struct{}) (from, to point) {
	over := make(chan struct{})
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(over)
		select {
		case <-published:
		case <-consumed:
		case <-stop:
		}
	}()
	return s.between(over)
}

// leave ends the consumers.
func (s *stream) leave() error {
	for _, c := range s.consumers {
		c.Stop()
	}
	return s.consume.Wait()
}

// count adds up what came out of the queues.
func (s *stream) count() {
	r := s.result
	r.Received = s.run.Got.Load()
	for i, book := range s.books {
		found, redelivered := book.Findings()
		r.Redelivered += redelivered
		r.Verify.Add(found)
		if s.Consumers == 0 || s.TakeCount > 0 || !s.TTL.IsZero() || i >= s.Consumers*s.ConsumerChannels {
			continue // messages that have not arrived are not lost
		}
		for _, l := range s.lanes() {
			if s.goesTo(l.ID, i) {
				r.Verify.Lost += max(0, book.Missing(l.ID, l.Sent)-l.Refused-l.Returned.Load())
			}
		}
	}
}

func (s *stream) figures(t0, t1, t2, taken, t3 point) {
	r, copies := s.result, s.copies()
	between := func(a, b point) time.Duration { return b.at.Sub(a.at) }
	r.Add("publish_per_s", report.Rate(t2.sent-t1.sent, between(t1, t2)))
	switch {
	case s.Consumers == 0:
	case s.ConsumeAfter:
		r.Add("consume_per_s", report.Rate(t3.got, between(taken, t3)))
	default:
		r.Add("consume_per_s", report.Rate(t2.got-t1.got, between(t1, t2)))
		r.Add("through_per_s", report.Rate(t3.sent, between(t0, t3)))
		r.Add("backlog_at_stop", float64(t2.sent*copies-t2.got))
		r.Add("drain_s", between(t2, t3).Seconds())
	}
	if n := slices.Max([]int64{(t2.sent - t1.sent + (t2.got-t1.got)/copies) / 2, 1}); s.broker != nil && s.PublishCount == 0 {
		r.Add("steady_cpu_s_per_million", (t2.cpu-t1.cpu)/float64(n)*1e6)
	}
}
