package message

// Returns counts how often a message came back to its queue from consumers (DL-9): deliveries that failed in the lower half, others
// in the upper half. Each of the two counts ends at 65,535.
type Returns uint32

// The Returns of a message that came back once. To add one, use Fail or GiveBack where the bound may be reached.
const (
	FailedOnce    Returns = 1
	GivenBackOnce Returns = 1 << 16
	maxFailed             = GivenBackOnce - FailedOnce
)

// Failed returns the number of deliveries that failed, which the delivery limit bounds.
func (r Returns) Failed() uint32 { return uint32(r & maxFailed) }

// All returns the number of all deliveries that came back.
func (r Returns) All() uint32 { return r.Failed() + uint32(r>>16) }

// Fail counts a delivery that failed, and reports whether the count has changed.
func (r *Returns) Fail() bool {
	if *r&maxFailed == maxFailed {
		return false
	}
	*r += FailedOnce
	return true
}

// GiveBack counts a delivery that came back without having failed, and reports whether the count has changed.
func (r *Returns) GiveBack() bool {
	if *r >= maxFailed<<16 {
		return false
	}
	*r += GivenBackOnce
	return true
}
