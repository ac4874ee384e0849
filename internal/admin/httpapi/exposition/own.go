package exposition

import (
	"maps"
	"slices"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
)

// horizons are the labels of the classes of management.ExpiryCounts.
var horizons = [...]string{"1s", "1m", "1h", "1d", "later"}

// due returns when messages expire; nil if too many queues would have to be asked.
func due(w *writer, c *management.ExpiryCounts) {
	if c == nil {
		return
	}
	for i, n := range c.Within {
		w.gauge("candlemark_messages_due", "Ready messages by time left until expiry, in disjoint ranges", float64(n), "within", horizons[i])
	}
	w.gauge("candlemark_next_expiry_timestamp_seconds", "Unix time at which the next message expires, 0 if none does", float64(c.Next)/1000)
}

// lost writes how many messages ended with a deleted object, although they were to go elsewhere.
func lost(w *writer, m *management.Metrics) {
	queues := m.Queues[metrics.Classic][queuestats.Lost] + m.Queues[metrics.Quorum][queuestats.Lost]
	for _, of := range []struct {
		object string
		count  int64
	}{{"queue", queues}, {"exchange", m.Queues[metrics.Holder][queuestats.Lost]}} {
		w.counter("candlemark_lost_messages_total", "Dead letters, forwarded and scheduled messages lost with their deleted queue or exchange", uint64(of.count), "object", of.object)
	}
}

// The descriptions of the histograms of AGE-3.
const (
	waitHelp       = "How long messages waited in their queue for their first delivery"
	processingHelp = "How long it took consumers to settle or return their deliveries"
)

// ages writes how old the messages of all queues are, and how long they waited and were processed. oldest is
// the age of the oldest ready message in ms.
func ages(w *writer, m *management.Metrics, oldest int64) {
	w.gauge("candlemark_oldest_ready_age_seconds", "Age of the oldest ready message of all queues, 0 if none is ready", float64(oldest)/1000)
	for kind, word := range queueTypes {
		w.histogram("candlemark_wait_seconds", waitHelp, m.Wait[kind], "queue_type", word)
	}
	for kind, word := range queueTypes {
		w.histogram("candlemark_processing_seconds", processingHelp, m.Processing[kind], "queue_type", word)
	}
}

// schedules writes the numbers of recurring schedules and of their runs.
func schedules(w *writer, m *management.Metrics) {
	for _, state := range slices.Sorted(maps.Keys(m.Schedules)) {
		w.gauge("candlemark_schedules", "Recurring schedules by state", float64(m.Schedules[state]), "state", state)
	}
	for _, result := range slices.Sorted(maps.Keys(m.ScheduleRuns)) {
		w.counter("candlemark_schedule_runs_total", "Runs of recurring schedules by result", uint64(m.ScheduleRuns[result]), "result", result)
	}
	w.histogram("candlemark_schedule_lateness_seconds", "Time from the time of a run, with its jitter, until all its queues had it", m.ScheduleLate)
}

// testClock writes the time of a test clock.
func testClock(w *writer, c *clock.Clock) {
	if c.Manual() {
		w.gauge("candlemark_test_clock", "1 if the broker has a test clock: its times are not real", 1)
		w.gauge("candlemark_clock_timestamp_seconds", "The time that the test clock shows, as a Unix time", float64(c.Wall())/1000)
	}
}

// deadLetters writes what became of messages that died, and of the answers to requests among them.
func deadLetters(w *writer, d *management.DeadLetters) {
	for _, r := range reasons(d) {
		for _, o := range []struct {
			strategy string
			count    uint64
		}{{"at_least_once", r.of.AtLeastOnce}, {"at_most_once", r.of.AtMostOnce}, {"disabled", r.of.Disabled}} {
			w.counter("candlemark_dead_letters_total", "Messages dead-lettered, or discarded because their queue does not dead-letter",
				o.count, "reason", r.name, "strategy", o.strategy)
		}
	}
	for _, r := range reasons(d) {
		for _, o := range []struct {
			outcome string
			count   uint64
		}{
			{"routed", r.of.Routed},
			{"confirmed", r.of.Confirmed},
			{"unroutable", r.of.Unroutable},
			{"failed", r.of.Failed},
			{"cycle", r.of.Cycles},
			{"refused", r.of.Refused},
			{"lost_target", r.of.LostTargets},
			{"kept", r.of.Kept},
			{"too_many_copies", r.of.TooManyCopies},
		} {
			w.counter("candlemark_dead_letter_outcomes_total", "Dead letters by outcome", o.count, "reason", r.name, "outcome", o.outcome)
		}
	}
	answers := d.Answered
	for _, o := range []struct {
		outcome string
		count   uint64
	}{
		{"routed", answers.Routed},
		{"confirmed", answers.Confirmed},
		{"unroutable", answers.Unroutable},
		{"failed", answers.Failed},
		{"refused", answers.Refused},
		{"lost_target", answers.LostTargets},
	} {
		w.counter("candlemark_request_answers_total", "Answers to requests that their queue has dropped, by outcome", o.count, "outcome", o.outcome)
	}
}

// own writes the metrics that other brokers do not have.
func own(w *writer, m *management.Metrics) {
	var n queuestats.Sums
	for i := range m.Queues {
		n.Add(&m.Queues[i])
	}
	w.histogram("candlemark_expiry_lateness_seconds", "Time from the deadline of a message to its expiry", m.Expired)
	w.histogram("candlemark_release_lateness_seconds", "Time from the due time of a scheduled message to its release", m.Released)
	schedules(w, m)
	figureTotals(w, &n, true)
	w.gauge("candlemark_leased_queues", "Queues that expire when unused", float64(n[queuestats.Leased]))
	w.counter("candlemark_queue_leases_expired_total", "Queues that expired because they were unused", m.DeadLetters.QueuesExpired)
	w.counter("candlemark_queue_leases_discarded_messages_total", "Messages discarded with expired queues", m.DeadLetters.Discarded)
	w.counter("candlemark_delivery_timeouts_total", "Deliveries requeued because they were not settled in time", uint64(n[queuestats.TimedOut]))
	w.counter("candlemark_bindings_skipped_total", "Messages for which an exchange did not evaluate some bindings, which would have taken too many steps", m.SkippedBindings)
	w.counter("candlemark_rules_too_costly_total", "Filters and actions of rules that took too many steps for a message", m.CostlyRules)
	lost(w, m)
	w.gauge("candlemark_paged_messages", "Messages whose content is only on disk", float64(n[queuestats.Paged]))
	w.gauge("candlemark_paged_bytes", "Body bytes that are only on disk", float64(n[queuestats.PagedBytes]))
	deadLetters(w, &m.DeadLetters)
	w.gauge("candlemark_actors_busy", "Actors that are running or ready to run", float64(m.Actors.Busy))
	w.gauge("candlemark_mailbox_mails", "Mails waiting in the mailboxes of busy actors", float64(m.Actors.Mails))
	w.gauge("candlemark_mailbox_longest_mails", "Mails in the fullest mailbox", float64(m.Actors.Longest))
	for _, kind := range slices.Sorted(maps.Keys(m.Panics)) {
		w.counter("candlemark_actor_panics_total", "Panics of actors, by kind of actor", m.Panics[kind], "actor", kind)
	}
	if j := m.Journal; j != nil {
		w.histogram("candlemark_journal_commit_seconds", "Time to write and sync a batch of records", j.Commits)
		w.counter("candlemark_journal_records_total", "Records written to the journal", j.Records)
		w.counter("candlemark_journal_written_bytes_total", "Bytes written to the journal", j.Written)
		w.gauge("candlemark_journal_bytes", "Size of the journal's files", float64(j.Bytes))
		w.gauge("candlemark_journal_messages", "Messages in the journal", float64(j.Live))
	}
}
