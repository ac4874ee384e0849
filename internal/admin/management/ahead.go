package management

// Fate is the outcome of something that is due.
type Fate uint8

// The fates.
const (
	Dropped      Fate = iota // a message expires in a queue without a dead-letter exchange
	DeadLettered             // or in one that has such
	Released                 // a scheduled message goes to consumers, or on to queues
	QueueEnds                // an unused queue ends
	LockReturns              // an unsettled delivery is requeued
	ScheduleRuns             // a recurring schedule publishes

	Fates
)

// String returns the word for it in JSON.
func (f Fate) String() string {
	return [...]string{"dropped", "dead_lettered", "scheduled", "queue_ends", "lock_returns", "schedule_runs"}[f]
}

// AheadHorizons are how many ms ahead the classes of Ahead reach: 1 s, 10 s, 1 min, 10 min, 1 h, 6 h, 1 d, 7 d, 30 d.
var AheadHorizons = [...]int64{1e3, 10e3, 60e3, 600e3, 3600e3, 6 * 3600e3, 24 * 3600e3, 7 * 24 * 3600e3, 30 * 24 * 3600e3}

// Classes counts deadlines by horizon: each within its horizon but not within an earlier one, and the last class beyond
// all. Overdue ones are in the first.
type Classes [len(AheadHorizons) + 1]int

// Add adds n.
func (c *Classes) Add(n Classes) {
	for i, v := range n {
		c[i] += v
	}
}

// Ahead counts the deadlines of a virtual host by fate and time.
type Ahead struct {
	VHost  string
	Counts [Fates]Classes
	Next   Deadline
	// Queues counts queues with a deadline, and exchanges that delay; Asked of them have answered, at most MaxDue of all
	// virtual hosts. Counts covers only these.
	Queues, Asked int
}

// Deadline is the next one.
type Deadline struct {
	At          int64 // wall ms, 0 for none
	Fate        Fate
	VHost, Name string
	Exchange    bool // the name belongs to an exchange that delays, not to a queue
}

// Earlier has it be another one, if that is earlier.
func (d *Deadline) Earlier(other Deadline) {
	if other.At != 0 && (d.At == 0 || other.At < d.At) {
		*d = other
	}
}
