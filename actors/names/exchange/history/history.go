package history

import (
	"math"
	"slices"

	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// The limits of one exchange, of any declared length.
const (
	// MaxLength is the maximum number of messages.
	MaxLength = 10_000
	// MaxBytes is the maximum size in bytes, including MessageBytes for each message.
	MaxBytes = 16 << 20
	// MessageBytes is the assumed size of a message without its content.
	MessageBytes = 256
)

// never is the deadline of a message that does not expire.
const never = math.MaxInt64

// History holds the messages that one exchange keeps. It is created by New.
type History struct {
	length int
	room   *budget.Room // shared by all exchanges
	list   []entry      // oldest first
	bytes  int64
}

// entry is one message.
type entry struct {
	message.Message
	deadline int64 // in ms of the clock
}

// cost returns the size of a message, in bytes.
func cost(m *message.Message) int64 { return int64(m.Size()) + MessageBytes }

// New returns an empty history of length messages, at least 1 and at most MaxLength. All histories share the room.
func New(length int64, room *budget.Room) *History {
	return &History{length: int(min(length, MaxLength)), room: room}
}

// Len returns the number of messages, including expired ones.
func (h *History) Len() int { return len(h.list) }

// Bytes returns the size of the messages, including MessageBytes for each.
func (h *History) Bytes() int64 { return h.bytes }

// Keep keeps a copy of a message, and removes the oldest messages as the limits require. It returns the copy; false for
// a message that is not kept: because of its header, because its TTL is 0, or because it does not fit even alone.
func (h *History) Keep(m *message.Message, now clock.Instant) (copied message.Message, kept bool) {
	bytes := cost(m)
	if m.TTL == 0 || bytes > MaxBytes || refuses(m.Header) {
		return copied, false
	}
	drop := 0 // number of messages to be removed
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
	c.Number, c.Owned, c.Share = 0, false, nil // the content may be in a block owned by others
	c.Own()
	if c.Size() > message.ShareFrom {
		c.Share = message.NewShare(c.Size())
	}
	h.list = append(h.list, c)
	h.bytes += bytes
	return c.Message, true
}

// refuses reports whether the properties of a message prevent keeping it.
func refuses(properties []byte) bool {
	scan, err := protocol.ScanProperties(properties)
	if err != nil || scan.Headers == nil {
		return false
	}
	v, _, err := protocol.LookupField(scan.Headers, topology.NoHistoryHeader)
	return err == nil && v == true
}

// drop removes the n oldest messages.
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

// Clear removes all messages.
func (h *History) Clear() { h.drop(len(h.list)) }

// Live reports whether a new binding would get any messages. If all messages have expired they are removed.
func (h *History) Live(now clock.Instant) bool {
	for i := range slices.Backward(h.list) {
		if h.list[i].deadline > now.Floor() {
			return true
		}
	}
	h.Clear()
	return false
}

// Replay returns the messages for a new binding: all that have not expired, oldest first, each with its remaining
// TTL.
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
