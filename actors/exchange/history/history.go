package history

import (
	"math"
	"slices"

	"candlemark/internal/budget"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// The bounds of one exchange, whatever length it was declared with.
const (
	// MaxLength is how many messages are kept.
	MaxLength = 10_000
	// MaxBytes is how many bytes they may have, with MessageBytes for each besides its content.
	MaxBytes = 16 << 20
	// MessageBytes counts for each message besides its content.
	MessageBytes = 256
)

// never is the deadline of a message that does not expire.
const never = math.MaxInt64

// History has the messages that one exchange keeps. It is made by New.
type History struct {
	length int
	room   *budget.Room // of all exchanges
	list   []entry      // oldest first
	bytes  int64
}

// entry is one message.
type entry struct {
	message.Message
	deadline int64 // in ms of the clock
}

// cost counts a message, in bytes.
func cost(m *message.Message) int64 { return int64(m.Size()) + MessageBytes }

// New makes an empty history of so many messages, at least 1 and at most MaxLength. All histories share the room.
func New(length int64, room *budget.Room) *History {
	return &History{length: int(min(length, MaxLength)), room: room}
}

// Len is how many messages are kept, also those that are due.
func (h *History) Len() int { return len(h.list) }

// Bytes is how many they have, MessageBytes for each included.
func (h *History) Bytes() int64 { return h.bytes }

// Keep keeps a copy of a message, and lets go of the oldest as far as the bounds demand it. It returns the copy; false for a message that
// is not to be kept: by its header, because it is to be delivered now or never, or because there is no room for it even
// without all others.
func (h *History) Keep(m *message.Message, now clock.Instant) (copied message.Message, kept bool) {
	bytes := cost(m)
	if m.TTL == 0 || bytes > MaxBytes || refuses(m.Header) {
		return copied, false
	}
	drop := 0 // how many have to go
	left := h.bytes
	for ; drop < len(h.list) && (len(h.list)-drop >= h.length || left+bytes > MaxBytes); drop++ {
		left -= cost(&h.list[drop].Message)
	}
	h.drop(drop)
	for !h.room.Take(bytes) {
		if len(h.list) == 0 {
			return copied, false
		}
		h.drop(1)
	}
	c := entry{Message: *m, deadline: never}
	if m.TTL > 0 && m.TTL < never-now.Ceil() {
		c.deadline = now.Ceil() + m.TTL
	}
	c.Number, c.Owned, c.Share = 0, false, nil // its content may lie in a block that is somebody else's
	c.Own()
	if c.Size() > message.ShareFrom {
		c.Share = message.NewShare(c.Size())
	}
	h.list = append(h.list, c)
	h.bytes += bytes
	return c.Message, true
}

// refuses tells whether a message by its properties is not to be kept.
func refuses(properties []byte) bool {
	scan, err := protocol.ScanProperties(properties)
	if err != nil || scan.Headers == nil {
		return false
	}
	v, _, err := protocol.LookupField(scan.Headers, topology.NoHistoryHeader)
	return err == nil && v == true
}

// drop lets go of the n oldest.
func (h *History) drop(n int) {
	for i := range n {
		bytes := cost(&h.list[i].Message)
		h.bytes -= bytes
		h.room.Return(bytes)
	}
	clear(h.list[:n])
	if h.list = h.list[n:]; len(h.list) == 0 {
		h.list = nil
	}
}

// Clear lets go of all.
func (h *History) Clear() { h.drop(len(h.list)) }

// Live tells whether a new binding would get anything. What is due does not live: if all is, it is let go.
func (h *History) Live(now clock.Instant) bool {
	for i := range slices.Backward(h.list) {
		if h.list[i].deadline > now.Floor() {
			return true
		}
	}
	h.Clear()
	return false
}

// Replay returns what a new binding gets: all that is not due, oldest first, each with the time that is left to it.
func (h *History) Replay(now clock.Instant) []message.Message {
	var list []message.Message
	for i := range h.list {
		k := &h.list[i]
		if k.deadline <= now.Floor() {
			continue
		}
		m := k.Message
		if k.deadline != never {
			m.TTL = max(k.deadline-now.Ceil(), 1)
		}
		list = append(list, m)
	}
	return list
}
