package segment

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// errFull is the error of Appends that waited for room when the journal was closed.
var errFull = errors.New("journal was closed while the disk was full")

// run is the writer: one batch after the other, each synced before the next is
// written.
func (j *Journal) run() {
	defer close(j.ended)
	lag := lag{after: j.options.Lag, timer: time.NewTimer(j.options.Lag), armed: true}
	defer lag.timer.Stop()
	for {
		b := j.nextBatch(&lag)
		if b == nil {
			j.complete()
			return
		}
		j.commits.commit(b)
		j.completions.push(b)
		j.mu.Lock()
		next := len(j.pending) >= helpFrom || slices.ContainsFunc(j.pending, func(p pending) bool { return p.done != nil })
		j.mu.Unlock()
		if next { // somebody waits for the next batch, or it is large
			wake(j.help)
		} else {
			j.completions.carried(j.complete)
		}
		j.progress.Write(false)
	}
}

// nextBatch waits for something to write; nil after Close when nothing is left.
func (j *Journal) nextBatch(lag *lag) *batch {
	hurry := false
	lag.since = time.Time{}
	for {
		b, state := j.look(hurry)
		if b != nil || state == over {
			return b
		}
		j.progress.Write(true)
		if state == waiting {
			lag.begin()
		}
		select {
		case <-j.kick:
		case <-lag.timer.C:
			hurry = lag.over() || hurry
		}
		j.mu.Lock()
		j.writer = busy
		j.mu.Unlock()
	}
}

// lag tells when records without done have waited long enough. Its timer runs on from batch to batch: to start one for each
// would wake a thread each time.
type lag struct {
	after time.Duration
	since time.Time // when the writer began to wait with such records, zero if it does not
	timer *time.Timer
	armed bool
}

func (l *lag) begin() {
	if !l.since.IsZero() {
		return
	}
	if l.since = time.Now(); !l.armed {
		l.arm(l.after)
	}
}

func (l *lag) arm(d time.Duration) {
	l.armed = true
	l.timer.Reset(d)
}

// over is called when the timer has fired. It reports whether the records have waited long enough.
func (l *lag) over() bool {
	l.armed = false
	if l.since.IsZero() {
		return false
	}
	if rest := l.after - time.Since(l.since); rest > 0 {
		l.arm(rest)
		return false
	}
	return true
}

// look encodes records and returns the batch if it should be written now, else what the writer does until then. The
// helper cannot encode in between, so nothing is missed: later appends wake the writer.
func (j *Journal) look(hurry bool) (*batch, doing) {
	l := &j.log
	l.Lock()
	defer l.Unlock()
	j.mu.Lock()
	closed := j.closed
	j.mu.Unlock()
	if l.closing = closed; closed {
		l.moves = nil // no append waits for them
	}
	j.gather()
	if l.starving > 0 && closed && j.stock.Failed() {
		l.failed = errFull
		j.gather()
	}
	if l.batch.due() || l.batch.records > 0 && (hurry || closed) {
		return j.seal(), busy
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	starving := (l.starving > 0 || l.cramped && len(l.moves) > 0) && l.failed == nil
	switch {
	case len(j.pending) > 0 && !starving || j.closed && !closed:
		wake(j.kick)
	case l.batch.records > 0:
		j.writer = waiting
	case starving:
		return nil, busy // the stock or the keeper wakes it
	case j.closed:
		l.ended = true
		return nil, over
	default:
		j.writer = idle
	}
	return nil, j.writer
}

// fail stops a journal whose disk can no longer be trusted. The operator is informed first.
func (j *Journal) fail(err error) {
	j.reported.Do(func() { j.options.OnFailure(err) })
	j.mu.Lock()
	if j.failed == nil {
		j.failed = err
	}
	j.mu.Unlock()
	j.log.Lock()
	if j.log.failed == nil {
		j.log.failed = err
	}
	j.log.Unlock()
	wake(j.kick)
}

// assist is the helper: while the writer waits for the disk, it calls the completions of earlier batches and encodes
// new records.
func (j *Journal) assist() {
	defer j.workers.Done()
	for range j.help {
		j.completions.carried(j.complete)
		j.log.Lock()
		j.gather()
		due := j.log.batch.due()
		j.log.Unlock()
		if due { // as in early.write
			wake(j.kick)
		}
	}
}

// completions are durable or failed batches not yet reported.
type completions struct {
	run  sync.Mutex // held while reporting, to keep the order
	mu   sync.Mutex
	list []*batch

	carry atomic.Pointer[func(func())]
}

func (c *completions) push(b *batch) {
	c.mu.Lock()
	c.list = append(c.list, b)
	c.mu.Unlock()
}

func (c *completions) pop() (b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) > 0 {
		b = c.list[0]
		c.list = append(c.list[:0], c.list[1:]...)
	}
	return b
}

// maxUnused is the maximum number of finished batches that are kept to be used again: each has a buffer of up to 5 MiB.
const maxUnused = 2

// CarryAnswers makes answers to Appends within carry, which calls its argument and may help with the work that the
// answers cause, for a short time: then nobody is woken for it.
func (j *Journal) CarryAnswers(carry func(answers func())) { j.completions.carry.Store(&carry) }

// carried calls report within the function of CarryAnswers, if there is one.
func (c *completions) carried(report func()) {
	if carry := c.carry.Load(); carry != nil {
		(*carry)(report)
	} else {
		report()
	}
}

// complete reports finished batches to their appenders.
func (j *Journal) complete() {
	c := &j.completions
	c.run.Lock()
	defer c.run.Unlock()
	for b := c.pop(); b != nil; b = c.pop() {
		if b.err == nil {
			j.moved.publish(b.moved)
		}
		for _, d := range b.dones {
			err := b.err
			if d.err != nil {
				err = d.err
			}
			d.done(err)
		}
		b.reset()
		j.log.Lock()
		if len(j.log.unused) < maxUnused {
			j.log.unused = append(j.log.unused, b)
		}
		j.log.Unlock()
	}
}
