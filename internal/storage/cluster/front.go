package cluster

import (
	"errors"
	"sync"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// ErrLost is store.ErrLost.
var ErrLost = store.ErrLost

const (
	entryLimit = 1 << 20              // bytes; an entry that is longer takes no more operations
	inFlight   = 4                    // entries that are proposed and not applied
	flightSize = 8 << 20              // bytes of them; another entry waits
	early      = 5 * time.Millisecond // how long operations for which nobody waits are gathered
)

// proposal is an entry that is proposed and not applied.
type proposal struct {
	list []operation
	size int // bytes, about
}

// front turns the operations of a broker into entries, for one term.
type front struct {
	node   *Node
	clock  *clock.Clock
	term   uint64
	sender uint64
	kick   chan struct{}

	mu       sync.Mutex
	waiting  []operation
	urgent   bool // somebody waits for the last ones
	timer    bool
	flight   int
	flying   int // bytes of the entries in flight
	number   uint64
	sent     map[uint64]proposal
	err      error // why it takes no more operations
	refusing bool
	lost     chan struct{}
}

func newFront(n *Node, r *reign, sender uint64) *front {
	f := &front{node: n, clock: r.clock, term: r.term, sender: sender, kick: make(chan struct{}, 1), sent: map[uint64]proposal{}, lost: make(chan struct{})}
	go f.run()
	return f
}

// add hands over an operation. A refused one is answered from a goroutine of its own.
func (f *front) add(o operation, urgent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, o)
	if f.err != nil {
		f.refuseAll()
		return
	}
	if urgent {
		f.urgent = true
		f.wake()
	} else if !f.urgent && !f.timer {
		f.timer = true
		time.AfterFunc(early, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.timer, f.urgent = false, len(f.waiting) > 0
			f.wake()
		})
	}
}

func (f *front) wake() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// run proposes entries, one after the other.
func (f *front) run() {
	for {
		select {
		case <-f.kick:
		case <-f.lost:
			return
		}
		for {
			number, list := f.next()
			if list == nil {
				break
			}
			future := f.node.raft.Apply(encodeEntry(origin{f.sender, number, int64(f.clock.Now())}, list), 0)
			go func() {
				defer f.node.asked.Add(-1)
				if err := future.Error(); err != nil {
					f.fail(errors.Join(ErrLost, err))
				}
			}()
		}
	}
}

// next takes the operations of the next entry, nil for none. It counts what raft is asked: nothing is asked after fail, so that Node.Close can wait for all answers.
func (f *front) next() (number uint64, list []operation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil || !f.urgent || f.flight >= inFlight || f.flying >= flightSize || len(f.waiting) == 0 {
		return 0, nil
	}
	size, n := 0, 0
	for n < len(f.waiting) && size < entryLimit {
		size += f.waiting[n].size()
		n++
	}
	list = f.waiting[:n:n]
	f.waiting = f.waiting[n:]
	f.urgent = len(f.waiting) > 0
	f.number++
	f.node.asked.Add(1)
	f.flight++
	f.flying += size
	f.sent[f.number] = proposal{list, size}
	return f.number, list
}

// take returns the operations of an entry that this front has sent, once.
func (f *front) take(sender, number uint64) []operation {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sender != f.sender || f.err != nil {
		return nil
	}
	p := f.sent[number]
	delete(f.sent, number)
	f.flight--
	f.flying -= p.size
	f.wake()
	return p.list
}

// fail ends the front: everything not applied is answered with err, in order.
func (f *front) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return
	}
	f.err = err
	close(f.lost)
	var all []operation
	for n := f.number - uint64(f.flight) + 1; n <= f.number; n++ {
		all = append(all, f.sent[n].list...)
	}
	f.sent = nil
	f.waiting = append(all, f.waiting...)
	f.refuseAll()
}

// refuseAll makes one goroutine answer what waits. The front is locked.
func (f *front) refuseAll() {
	if f.refusing || f.abandoned() {
		return
	}
	f.refusing = true
	go f.refuse()
}

// abandoned reports whether nothing is answered any more. The front is locked.
func (f *front) abandoned() bool {
	return f.node.cfg.Abandon && errors.Is(f.err, ErrLost) && !f.node.closing.Load()
}

// refuse answers what waits.
func (f *front) refuse() {
	for n := 0; ; n++ {
		f.mu.Lock()
		if n == len(f.waiting) {
			f.waiting, f.refusing = nil, false
			f.mu.Unlock()
			return
		}
		o := f.waiting[n]
		f.mu.Unlock()
		o.answer(f.err)
	}
}

// answer answers an operation that was not applied.
func (o *operation) answer(err error) {
	switch {
	case o.ask != nil:
		o.ask(err)
	case o.stored != nil:
		o.stored(0, err)
	case o.done != nil:
		o.done(err)
	}
}

// close waits for earlier operations and ends the front.
func (f *front) close() error {
	ended := make(chan error, 1)
	f.add(operation{ask: func(err error) {
		if err == nil {
			f.node.copies.Data().Journal.Await(func(err error) { ended <- err })
			return
		}
		ended <- err
	}}, true)
	err := f.await(ended)
	f.fail(store.ErrClosed)
	if errors.Is(err, store.ErrClosed) {
		return nil
	}
	return err
}

// await waits for the answer to an operation, or for the end of the front: a node that abandons its broker answers nothing after that.
func (f *front) await(answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-f.lost:
		return f.reason()
	}
}

// reason returns why the front takes no more operations.
func (f *front) reason() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// over reports whether the front takes no more operations.
func (f *front) over() bool {
	select {
	case <-f.lost:
		return true
	default:
		return false
	}
}

// sentBy returns the operations of an entry that this node has proposed and nobody has taken, else nil.
func (n *Node) sentBy(sender, number uint64) []operation {
	if f := n.front.Load(); f != nil {
		return f.take(sender, number)
	}
	return nil
}
