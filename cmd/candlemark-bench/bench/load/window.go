package load

import (
	"sync"

	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/wire"
)

// window holds the unconfirmed publishes of a channel. Tags start at 1; base is the lowest open tag.
type window struct {
	mu         sync.Mutex
	open       *sync.Cond
	size       uint64 // 0 if nothing is confirmed
	limit      uint64 // the last tag that there is credit for
	base, next uint64
	done       []bool
	sent       []int64
	times      []int64 // until confirms, of one event
	took       *stats.Shard
	nacked     int64
	dead       error
}

// newWindow holds n publishes, and has credit for all up to limit.
func newWindow(n int, limit uint64, took *stats.Shard) *window {
	w := &window{size: uint64(n), limit: limit, base: 1, next: 1, done: make([]bool, n), sent: make([]int64, n), took: took}
	w.open = sync.NewCond(&w.mu)
	return w
}

// reserve takes up to n tags, and waits until there is one; the time is when it got them.
func (w *window) reserve(n int) (got int, now int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.room() == 0 && w.dead == nil {
		w.open.Wait()
	}
	got = int(min(uint64(n), w.room()))
	now = wire.Now()
	if w.size == 0 {
		w.base += uint64(got)
		w.next = w.base
		return got, now, w.dead
	}
	for i := range uint64(got) {
		w.sent[(w.next+i)%w.size] = now
	}
	w.next += uint64(got)
	return got, now, w.dead
}

// room returns how many tags may be taken.
func (w *window) room() uint64 {
	room := w.limit - min(w.limit, w.next-1)
	if w.size == 0 {
		return room
	}
	return min(room, w.size-(w.next-w.base))
}

// drain waits until everything is confirmed.
func (w *window) drain() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.base < w.next && w.dead == nil {
		w.open.Wait()
	}
	if w.base < w.next {
		return w.dead
	}
	return nil
}

// fail wakes the senders that wait.
func (w *window) fail(err error) {
	w.mu.Lock()
	w.dead = err
	w.open.Broadcast()
	w.mu.Unlock()
}

// confirm notes an answer of the broker's.
func (w *window) confirm(ev *wire.Event, now int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ev.Kind == wire.Credit {
		w.limit = ev.Tag
		w.open.Signal()
		return
	}
	tag := ev.Tag
	if ev.Flag && tag == 0 {
		tag = w.next - 1
	}
	from := tag
	switch {
	case ev.First > 0:
		from = ev.First
	case ev.Flag:
		from = w.base
	}
	w.times = w.times[:0]
	for t := max(from, w.base); t <= tag && t < w.next; t++ {
		if at := t % w.size; !w.done[at] {
			w.done[at] = true
			w.times = append(w.times, now-w.sent[at])
			if ev.Kind == wire.Nack {
				w.nacked++
			}
		}
	}
	for w.base < w.next && w.done[w.base%w.size] {
		w.done[w.base%w.size] = false
		w.base++
	}
	w.took.Record(w.times...)
	w.open.Signal()
}
