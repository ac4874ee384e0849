package storetest

import (
	"fmt"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
)

// work does random things until the crash, or for a while.
func (l *life) work() {
	for range l.random.IntN(64 << l.random.IntN(6)) {
		if l.fs.Crashed() || l.book.over() {
			return
		}
		switch n := l.random.IntN(100); {
		case n < 60:
			l.append(true)
		case n < 75:
			l.append(false)
		case n < 78:
			l.fanOut()
		case n < 86:
			l.read()
		case n < 88 && !l.fault.full(): // it would wait behind records that wait for room
			l.recall()
		case n < 94:
			time.Sleep(time.Duration(l.random.IntN(5)) * time.Millisecond)
		case n < 96:
			l.settle()
		case n < 97 && l.fault == NoFault:
			l.reopen()
		default:
			synctest.Wait()
		}
	}
}

func (l *life) append(waits bool) {
	l.book.mu.Lock()
	q := store.QueueID(1 + l.random.IntN(6))
	records := Decide(l.random, &l.book.model, q, l.last)
	l.book.mu.Unlock()
	l.j.Append(q, records, l.book.done(q, records, waits))
}

// fanOut appends one message to several queues, which share its memory.
func (l *life) fanOut() {
	var n uint64
	for q := range store.QueueID(4) {
		n = max(n, l.last[1+q])
	}
	shared := Put(1, n+1, l.random.IntN(3000))
	for q := range store.QueueID(4) {
		l.last[1+q] = n + 1
		records := []store.Record{store.Naming(NameOf(1 + q)), shared}
		l.book.mu.Lock()
		l.book.model.Append(1+q, records...)
		l.book.mu.Unlock()
		l.j.Append(1+q, records, l.book.done(1+q, records, true))
	}
}

// read fetches messages whose positions are known and that were not removed.
func (l *life) read() {
	q := store.QueueID(1 + l.random.IntN(6))
	refs, want := l.book.known(q)
	l.check(q, refs, func(i int) store.Record { return want[i] })
}

func (l *life) recall() {
	q := store.QueueID(1 + l.random.IntN(6))
	failed := make(chan error, 1)
	l.j.Recall(q, func(got []store.Recovered, err error) {
		l.book.mu.Lock()
		defer l.book.mu.Unlock()
		if err == nil {
			if text := l.book.model.Now(q).Differs(got); text != "" {
				err = fmt.Errorf("recall of queue %d: %s", q, text)
			}
		}
		if l.fs.Crashed() || l.book.failed || l.fault == FailedRead {
			err = nil
		}
		failed <- err
	})
	if err := wait(l.T, "recall", failed); err != nil {
		l.Fatalf("life %d: %v", l.lives, err)
	}
}

// settle lets the clock pass the lag: everything is durable then.
func (l *life) settle() {
	time.Sleep(l.c.Lag + time.Millisecond)
	if l.fault == NoRoom && !l.book.isFull() {
		time.Sleep(time.Second) // the alarm may be on its way
	}
	if l.book.isFull() {
		if l.random.IntN(2) == 0 {
			return
		}
		l.endFaults()
		time.Sleep(time.Second)
	}
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	if !l.fs.Crashed() && !l.book.failed {
		l.book.model.AllDurable()
		if l.book.open > 0 {
			l.Fatalf("life %d: %d appends are not done", l.lives, l.book.open)
		}
	}
}

// reopen stops the process cleanly and starts it again.
func (l *life) reopen() {
	l.close()
	if l.fs.Crashed() {
		return
	}
	l.book.begin()
	j, err := l.c.Open(l.fs, l.book.fail, l.book.fill)
	if err == nil {
		l.j = j
		l.compare()
	} else if !l.fs.Crashed() {
		l.Fatalf("life %d: reopening failed: %v", l.lives, err)
	}
}
