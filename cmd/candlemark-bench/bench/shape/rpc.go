package shape

import (
	"errors"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/verify"
)

// rpc is callers and servers around one queue.
func (b *Bench) rpc() error {
	queue := b.queues()[0]
	if err := b.queue(queue, b.QueueArgs); err != nil {
		return err
	}
	var serve, call load.Group
	var servers []*load.Server
	defer func() {
		for _, s := range servers {
			s.Stop()
		}
	}()
	for range b.Consumers {
		s, err := load.NewServer(b.run, &load.Consuming{AutoAck: b.AutoAck, Prefetch: b.Prefetch}, queue)
		if err != nil {
			return err
		}
		servers = append(servers, s)
		serve.Go(s.Run)
	}
	how := &load.Calling{
		Publishing: load.Publishing{Properties: b.Properties, Size: b.Size, Rate: b.ProducerRate(), Limit: b.PublishCount},
		Queue:      queue, Direct: b.Reply == "direct", Timeout: b.Timeout,
	}
	var callers []*load.Caller
	for i := range b.Producers {
		c, err := load.NewCaller(b.run, how, i)
		if err != nil {
			return err
		}
		callers = append(callers, c)
	}
	b.sample()
	for _, c := range callers {
		call.Go(c.Run)
	}
	t1, t2 := b.between(call.Done())
	b.run.Stop.Store(true)
	err := call.Wait()
	for _, s := range servers {
		s.Stop()
	}
	servers, err = nil, errors.Join(err, serve.Wait())
	r := b.result
	for _, c := range callers {
		r.Sent += c.Sent
		r.Verify.Add(verify.Findings{Lost: c.Answers.Missing(c.ID, c.Sent)})
		found, redelivered := c.Answers.Findings()
		r.Verify.Add(found)
		r.Redelivered += redelivered
	}
	r.Received = b.run.Got.Load()
	took := t2.at.Sub(t1.at)
	r.Add("calls_per_s", report.Rate(t2.got-t1.got, took))
	if n := t2.got - t1.got; b.broker != nil && n > 0 && took > time.Second {
		r.Add("steady_cpu_s_per_million", (t2.cpu-t1.cpu)/float64(n)*1e6)
	}
	return err
}
