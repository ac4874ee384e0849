package mail

import (
	"sync"

	"candlemark/internal/message"
)

// The slices of the hot mails are used again: at a million messages a second they
// would be most of what the collector has to look at. Only their receivers give them
// back, when nothing refers to them any more; that of a DeadLetter goes on to a target.

// pooledItems bounds the slices that are kept, in messages.
const pooledItems = 4096

var (
	messagePool  sync.Pool // of *[]message.Message
	deliveryPool sync.Pool // of *[]Delivery
)

// NewEnqueue makes an empty batch for a queue.
func NewEnqueue(from, queue Address) *Enqueue {
	return &Enqueue{From: from, Queue: queue, Messages: newMessages()}
}

// newMessages is an empty slice of messages, nil if none is to be used again.
func newMessages() []message.Message {
	if s, _ := messagePool.Get().(*[]message.Message); s != nil {
		return *s
	}
	return nil
}

// NewDeliver makes an empty delivery batch.
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
