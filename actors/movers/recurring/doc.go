// Package recurring is the actor that publishes the messages of the recurring schedules of one virtual host.
//
//	state.go    which runs are due        runs.go     what becomes of a run
//	publish.go  one message, its route    progress.go what the journal has
//	due.go      who is next, who waits    events.go   events of runs
//	missed.go   runs that are missed
//
// Owns: the schedules and their next times; the runs that targets have not answered, by number; how far each schedule has come.
//
// Takes: Set, Remove, Trigger, List and Look from the broker; EnqueueReply from queues; loaded, tick and PeerGone from itself. Sends: one
// Enqueue for each queue and turn; TriggerReply and Statuses.
//
// States: a schedule is loading until the journal has told how far it came, then running, paused or ended. A run is under way until
// all its queues have answered. If a queue ends or panics meanwhile, the run is published again: queues take each run once (REC-10). Only the
// runs of one turn are under way: a queue takes no run after a later one.
//
// Deadlines: the earliest time of a run, a date. The shell converts dates and asks again whenever the machine's clock was set.
//
// A restart loses the runs under way. Progress is in the journal: runs after it are published again, and queues drop
// those that they have. Triggers are lost, and answered as failed.
package recurring
