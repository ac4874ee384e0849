package mail

// Overlap says what becomes of a run of a schedule if the message of its run before is still in the queue (REC-8).
type Overlap uint8

// The rules for overlapping runs.
const (
	// OverlapAllow: the message is taken.
	OverlapAllow Overlap = iota
	// OverlapSkip: the message is not taken.
	OverlapSkip
	// OverlapReplace: the message is taken, and the one before is removed if it is ready.
	OverlapReplace
)

// Run says that a message of an Enqueue is a run of a schedule. A queue takes each run once (REC-10). The zero value stands for a
// message that is no run.
type Run struct {
	// Schedule is the schedule's incarnation, or the one of a backfill; 0 for none.
	Schedule uint64
	// Time is the nominal time of the run, in ms since 1970. A queue takes runs of a schedule by ascending times.
	Time    int64
	Overlap Overlap
}
