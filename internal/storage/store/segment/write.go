package segment

import (
	"errors"
	"sync"
	"time"
)

// errFull is the error of Appends that waited for room when the journal was closed.
var errFull = errors.New("journal was closed while the disk was full")

// run is the writer: one batch after the other, each synced before the next is
// written.
func (j *Journal) run() {
	defer close(j.ended)
	for {
		b := j.nextBatch()
		if b == nil {
			j.complete()
			return
		}
		j.commits.commit(b)
		j.completions.push(b)
		if j.more() {
			wake(j.help)
		} else {
			j.complete()
		}
		j.progress.Write(false)
	}
}

// nextBatch waits for something to write; nil after Close when nothing is left.
func (j *Journal) nextBatch() *batch {
	var lag *time.Timer
	var lagged <-chan time.Time
	hurry := false
	for {
		b, state := j.look(hurry)
		if b != nil || state == over {
			if lag != nil {
				lag.Stop()
			}
			return b
		}
		j.progress.Write(true)
		if state == waiting && lag == nil {
			lag = time.NewTimer(j.options.Lag)
			lagged = lag.C
		}
		select {
		case <-j.kick:
		case <-lagged:
			hurry = true
		}
		j.mu.Lock()
		j.writer = busy
		j.mu.Unlock()
	}
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

// more reports whether there is work for the next batch already.
func (j *Journal) more() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.pending) > 0
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
		j.complete()
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
