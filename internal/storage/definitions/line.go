package definitions

import "sync"

// line stores changes in the order of the calls, group by group: changes that arrive while a group is being stored form
// the next. Its goroutine runs while there is work.
type line struct {
	// store stores the steps of a group and fills in their results.
	store func(group []*step)

	mu      sync.Mutex
	resting sync.Cond // on mu: running became false
	waiting []*step
	running bool
	closed  bool
}

// step is one pending change.
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

// close waits until all earlier changes are answered; false if it was called before.
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
