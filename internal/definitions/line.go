package definitions

import "sync"

// line takes changes in the order of the calls and has them stored one group
// after the other: what comes while one is being stored is the next. Its
// goroutine lives while there is something to do.
type line struct {
	// store stores the steps of a group and fills in what became of each.
	store func(group []*step)

	mu      sync.Mutex
	resting sync.Cond // on mu: running became false
	waiting []*step
	running bool
	closed  bool
}

// step is one change on its way.
type step struct {
	change   Change
	done     func(revision uint64, err error)
	revision uint64
	err      error
}

func newLine(store func([]*step)) *line {
	l := &line{store: store}
	l.resting.L = &l.mu
	return l
}

func (l *line) add(c Change, done func(uint64, error)) {
	s := &step{change: c, done: done}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		s.err = ErrClosed
	}
	l.waiting = append(l.waiting, s)
	if !l.running {
		l.running = true
		go l.run()
	}
}

func (l *line) run() {
	for {
		l.mu.Lock()
		group := l.waiting
		l.waiting = nil
		if len(group) == 0 {
			l.running = false
			l.resting.Broadcast()
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.serve(group)
	}
}

// serve stores and answers a group. Steps that came after close are at its end.
func (l *line) serve(group []*step) {
	open := group
	for len(open) > 0 && open[len(open)-1].err != nil {
		open = open[:len(open)-1]
	}
	if len(open) > 0 {
		l.store(open)
	}
	for _, s := range group {
		if s.done != nil {
			s.done(s.revision, s.err)
		}
	}
}

// close waits until all that came before is answered; false when it is not the
// first call.
func (l *line) close() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.closed
	l.closed = true
	for l.running {
		l.resting.Wait()
	}
	return first
}
