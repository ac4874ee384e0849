package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// loaded: the contents of the messages with these handles were read.
type loaded struct {
	handles  []backlog.Handle
	contents []store.Content
	bytes    int64 // according to Orders
}

// reading is the part that reads contents, and pauses after a failed read.
type reading struct{ base }

func (s reading) Resume(now clock.Instant) { s.messages.Pager.Resume(now) }
