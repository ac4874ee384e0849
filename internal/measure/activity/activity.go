package activity

import "sync/atomic"

// Works counts works. It is safe for concurrent use; nil counts nothing.
type Works struct{ open atomic.Int64 }

// Begin counts a work, before it begins.
func (w *Works) Begin() {
	if w != nil {
		w.open.Add(1)
	}
}

// End ends a work, after its mail was posted.
func (w *Works) End() {
	if w != nil {
		w.open.Add(-1)
	}
}

// Open returns the number of works under way.
func (w *Works) Open() int64 {
	if w == nil {
		return 0
	}
	return w.open.Load()
}
