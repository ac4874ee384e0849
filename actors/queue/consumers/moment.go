package consumers

// Moment is the time of a delivery in units of 4 ms, modulo 2^32: 32 bits keep a delivery small, and are unambiguous for
// 198 days.
type Moment uint32

const momentUnit = 4 // ms

// MomentOf returns the moment of a time in wall ms.
func MomentOf(ms int64) Moment { return Moment(ms / momentUnit) }

// Ago returns how long before now, in wall ms, the moment was, in ms.
func (m Moment) Ago(now int64) int64 { return int64(MomentOf(now)-m) * momentUnit }

// At returns the last time not after now that has the moment, both in wall ms, rounded down to the unit.
func (m Moment) At(now int64) int64 { return now - now%momentUnit - m.Ago(now) }
