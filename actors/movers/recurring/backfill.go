package recurring

// backfill begins, changes or ends the backfill of a schedule, as its specification says (REC-14).
func (s *state) backfill(x *schedule) {
	b := x.spec.Backfill
	if x.parent != nil {
		return
	}
	if y := x.filling; y != nil && (b == nil || b.Incarnation != y.spec.Incarnation) {
		s.discard(y)
		x.filling = nil
	}
	switch {
	case b == nil:
	case x.filling == nil:
		x.filling = s.begun(x.spec.Filling(), x)
	default:
		s.change(x.filling, x.spec.Filling())
	}
}

// fill publishes the next run of a backfill, and determines when the one after it follows.
func (s *state) fill(x *schedule, now int64) {
	if s.fire(x, x.next, byBackfill, 0) {
		x.paced = max(x.paced+1000/int64(x.spec.Backfill.Rate), now)
	}
}

// shown returns the number of the run that its message has: those that the timer does not publish have none.
func (f *flight) shown() int64 {
	if f.by == byBackfill {
		return 0
	}
	return f.number
}
