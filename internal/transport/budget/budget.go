package budget

import (
	"math"
	"sync/atomic"
)

// Budget counts the bytes of message contents that queues hold in memory, against a limit. The zero value and nil have
// no limit.
type Budget struct {
	used     atomic.Int64
	reading  atomic.Int64 // of used, contents that are being read
	messages atomic.Int64
	limit    atomic.Int64 // bytes, 0 for none
}

// Add counts n bytes as held, or as released if n is negative.
func (b *Budget) Add(n int64) {
	if b != nil && n != 0 {
		b.used.Add(n)
	}
}

// Read counts n bytes, which Add counts as well, as requested from the journal, or as loaded if n is negative.
func (b *Budget) Read(n int64) {
	if b != nil && n != 0 {
		b.reading.Add(n)
	}
}

// Count counts n messages more in queues, or fewer if n is negative, also those whose
// contents are not in memory. They do not use the budget.
func (b *Budget) Count(n int64) {
	if b != nil && n != 0 {
		b.messages.Add(n)
	}
}

// Messages returns the number of messages.
func (b *Budget) Messages() int64 {
	if b == nil {
		return 0
	}
	return b.messages.Load()
}

// Used returns how many bytes are held.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// SetLimit sets the limit in bytes; 0 or less means none.
func (b *Budget) SetLimit(bytes int64) { b.limit.Store(max(bytes, 0)) }

// Limit returns the limit in bytes, math.MaxInt64 for none.
func (b *Budget) Limit() int64 {
	if b != nil {
		if limit := b.limit.Load(); limit > 0 {
			return limit
		}
	}
	return math.MaxInt64
}

// OverLimit reports whether queues hold more than the limit and are to page out.
func (b *Budget) OverLimit() bool {
	return b != nil && b.Used() > b.Limit()
}

// readShare: while the limit is exceeded, contents that are being read may take this fraction of it.
const readShare = 8

// Critical reports whether queues exceed the limit by a quarter, or exceed it and read much at once: then they are so many that
// even the contents each keeps for speed are too much.
func (b *Budget) Critical() bool {
	if !b.OverLimit() {
		return false
	}
	limit := b.Limit()
	return b.Used() > limit+limit/4 || b.reading.Load() > limit/readShare
}
