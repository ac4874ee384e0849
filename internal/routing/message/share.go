package message

import "sync/atomic"

// ShareFrom is the size in bytes above which a content has a Share.
const ShareFrom = 8 << 10

// Share counts the memory of a large content. Several queues may hold it, or a dead letter and the queue it died in: it
// counts once, as long as there is a holder. Safe for concurrent use.
type Share struct {
	holders atomic.Int64
	bytes   int64
}

// NewShare returns the Share of a content of that many bytes, without holders.
func NewShare(bytes int) *Share { return &Share{bytes: int64(bytes)} }

// Hold adds a holder. It returns the bytes to be counted: all for the first holder, else 0.
func (s *Share) Hold() int64 {
	if s.holders.Add(1) == 1 {
		return s.bytes
	}
	return 0
}

// Drop removes a holder. It returns the bytes that no longer count.
func (s *Share) Drop() int64 {
	switch n := s.holders.Add(-1); {
	case n == 0:
		return s.bytes
	case n < 0:
		panic("message: share dropped more often than held")
	}
	return 0
}
