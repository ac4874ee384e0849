package mail

import (
	"sync"

	"candlemark/internal/routing/message"
)

// Slices of frequent mail are pooled: at a million messages a second they would otherwise be most of the garbage
// collector's work. The receiver returns a slice when nothing refers to it; the slice of a DeadLetter is passed on to a
// target.

// pooledItems is the maximum capacity of a pooled slice, in messages.
const pooledItems = 4096

var (
	messagePool  sync.Pool // of *[]message.Message
	deliveryPool sync.Pool // of *[]Delivery
)

// NewEnqueue returns an empty batch for a queue.
func NewEnqueue(from, queue Address) *Enqueue {
	return &Enqueue{From: from, Queue: queue, Messages: newMessages()}
}

// newMessages returns an empty slice of messages from the pool, nil if there is none.
func newMessages() []message.Message {
	if s, _ := messagePool.Get().(*[]message.Message); s != nil {
		return *s
	}
	return nil
}

// NewDeliver returns an empty batch of deliveries.
func NewDeliver(queue Address, tag string, noAck bool) *Deliver {
	d := &Deliver{Queue: queue, Tag: tag, NoAck: noAck}
	if s, _ := deliveryPool.Get().(*[]Delivery); s != nil {
		d.Items = *s
	}
	return d
}

func recycle[T any](pool *sync.Pool, s []T) {
	if cap(s) == 0 || cap(s) > pooledItems {
		return
	}
	clear(s)
	s = s[:0]
	pool.Put(&s)
}
