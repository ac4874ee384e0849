package budget

import "sync/atomic"

// Room bounds the bytes that all objects of a kind may hold together. Safe for concurrent use; the zero value and nil
// have no limit.
type Room struct{ used, limit atomic.Int64 }

// SetLimit sets the limit in bytes; 0 or less is no limit. Bytes already held above the limit stay.
func (r *Room) SetLimit(bytes int64) { r.limit.Store(max(bytes, 0)) }

// Take reserves bytes more, at least 0; it returns false and reserves nothing if there is no room.
func (r *Room) Take(bytes int64) bool {
	if r == nil {
		return true
	}
	limit := r.limit.Load()
	if r.used.Add(bytes) <= limit || limit == 0 {
		return true
	}
	r.used.Add(-bytes)
	return false
}

// Return releases bytes that were taken.
func (r *Room) Return(bytes int64) {
	if r != nil {
		r.used.Add(-bytes)
	}
}

// Used returns how many bytes are held.
func (r *Room) Used() int64 {
	if r == nil {
		return 0
	}
	return r.used.Load()
}
