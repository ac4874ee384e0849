package shape

import (
	"fmt"
	"time"

	"candlemark/cmd/candlemark-bench/bench/stats"
)

// meter prints the progress of a run.
type meter struct {
	b    *Bench
	tick *time.Ticker
	last point
}

// point is one reading.
type point struct {
	at        time.Time
	cpu       float64
	rss       int64
	sent, got int64
}

func newMeter(b *Bench) *meter {
	return &meter{b: b, tick: time.NewTicker(max(b.Interval, 10*time.Millisecond)), last: b.read()}
}

// read takes a reading.
func (b *Bench) read() point {
	p := point{at: time.Now(), sent: b.run.Sent.Load(), got: b.run.Got.Load()}
	if b.broker != nil {
		s := b.broker.Sample()
		p.cpu, p.rss = s.CPU, s.RSS
	}
	return p
}

// print prints the rates of the last interval.
func (m *meter) print() {
	now, latency := m.b.read(), m.b.run.Latency.Interval()
	m.b.run.Confirm.Interval()
	m.b.run.FromWrite.Interval()
	m.b.run.Lag.Interval()
	took := max(now.at.Sub(m.last.at).Seconds(), 1e-3)
	since := now.at.Sub(m.b.began).Seconds()
	sent, got := float64(now.sent-m.last.sent)/took, float64(now.got-m.last.got)/took
	cores := (now.cpu - m.last.cpu) / took
	m.last = now
	ms := func(h *stats.Histogram, q float64) float64 { return float64(h.Quantile(q)) / 1e6 }
	if out := m.b.Progress; out != nil {
		fmt.Fprintf(out, "%6.1f s  sent %.0f/s  received %.0f/s  latency p50 %.3f p99 %.3f ms", since, sent, got, ms(latency, .5), ms(latency, .99))
		if m.b.broker != nil {
			fmt.Fprintf(out, "  broker %.2f cores, %d MiB", cores, now.rss>>20)
		}
		fmt.Fprintln(out)
	}
}

// until prints progress until one of these, or the end of the context; it returns whether the first of them came. A nil
// channel, or 0, is never.
func (m *meter) until(done <-chan struct{}, limit time.Duration) bool {
	var over <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	for {
		select {
		case <-done:
			return true
		case <-over:
			return false
		case <-m.b.Context.Done():
			return false
		case <-m.tick.C:
			m.print()
		}
	}
}

// pause prints progress for d.
func (m *meter) pause(d time.Duration) {
	if d > 0 {
		m.until(nil, d)
	}
}

// drained waits until enough messages have come, or none came for so long, or done is closed. came counts them, without
// duplicates.
func (m *meter) drained(came func() int64, enough int64, long time.Duration, done <-chan struct{}) {
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	got, since := int64(-1), time.Now()
	for came() < enough {
		if now := m.b.run.Got.Load(); now != got {
			got, since = now, time.Now()
		} else if time.Since(since) > long {
			return
		}
		select {
		case <-done:
			return
		case <-m.tick.C:
			m.print()
		case <-look.C:
		}
	}
}

// warm forgets what was recorded so far.
func (m *meter) warm() point {
	for _, r := range m.b.run.Recorders() {
		r.Forget()
	}
	return m.b.read()
}

// between returns where rates and latencies begin to count, and where the publishing is to end: when the time is over,
// or done is closed.
func (b *Bench) between(done <-chan struct{}) (from, to point) {
	from = b.read()
	warmup, left := b.Warmup, b.Time
	if b.PublishCount > 0 {
		warmup, left = 0, 0 // as long as it takes
	}
	if warmup > 0 && warmup < left {
		if b.meter.until(done, warmup) || b.Context.Err() != nil {
			return from, b.read()
		}
		from = b.meter.warm()
		left -= warmup
	}
	b.meter.until(done, left)
	return from, b.read()
}
