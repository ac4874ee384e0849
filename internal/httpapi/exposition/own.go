package exposition

import (
	"maps"
	"slices"

	"candlemark/internal/management"
	"candlemark/internal/metrics"
)

// horizons are the labels of the classes of management.ExpiryCounts.
var horizons = [...]string{"1s", "1m", "1h", "1d", "later"}

// due returns when messages expire; nil if too many queues would have to be asked.
func due(w *writer, c *management.ExpiryCounts) {
	if c == nil {
		return
	}
	for i, n := range c.Within {
		w.gauge("candlemark_messages_due", "Ready messages that expire within that time, and not within the one before", float64(n), "within", horizons[i])
	}
	w.gauge("candlemark_next_expiry_timestamp_seconds", "When the next message expires, since 1970, 0 if none does", float64(c.Next)/1000)
}

// lost writes how many messages ended with a deleted object, although they were to go elsewhere.
func lost(w *writer, m *management.Metrics) {
	queues := m.Queues[metrics.Classic][metrics.Lost] + m.Queues[metrics.Quorum][metrics.Lost]
	for _, of := range []struct {
		object string
		count  int64
	}{{"queue", queues}, {"exchange", m.Queues[metrics.Holder][metrics.Lost]}} {
		w.counter("candlemark_lost_messages_total", "Messages that were to be sent on or released, and ended with their queue or exchange", uint64(of.count), "object", of.object)
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

// own writes the metrics that other brokers do not have.
func own(w *writer, m *management.Metrics) {
	var n metrics.Numbers
	for i := range m.Queues {
		n.Add(&m.Queues[i])
	}
	w.histogram("candlemark_expiry_lateness_seconds", "How long behind their deadline messages expired", m.Expired)
	w.histogram("candlemark_release_lateness_seconds", "How long behind their time scheduled messages were released", m.Released)
	w.gauge("candlemark_scheduled_messages", "Messages that wait for their time, in queues and delayed exchanges", float64(n[metrics.Scheduled]))
	w.gauge("candlemark_deferred_messages", "Messages that are delivered only to who asks for their numbers", float64(n[metrics.Deferred]))
	w.gauge("candlemark_leased_queues", "Queues that end when unused", float64(n[metrics.Leased]))
	w.counter("candlemark_queue_leases_expired_total", "Queues that ended because they were unused", m.DeadLetters.QueuesExpired)
	w.counter("candlemark_queue_leases_discarded_messages_total", "Messages that went with those queues", m.DeadLetters.Discarded)
	w.counter("candlemark_delivery_timeouts_total", "Deliveries requeued because they were not settled in time", uint64(n[metrics.TimedOut]))
	lost(w, m)
	w.gauge("candlemark_paged_messages", "Messages whose content is on disk alone", float64(n[metrics.Paged]))
	w.gauge("candlemark_paged_bytes", "Bytes of bodies that are on disk alone", float64(n[metrics.PagedBytes]))

	for _, r := range reasons(&m.DeadLetters) {
		for _, o := range []struct {
			strategy string
			count    uint64
		}{{"at_least_once", r.of.AtLeastOnce}, {"at_most_once", r.of.AtMostOnce}, {"disabled", r.of.Disabled}} {
			w.counter("candlemark_dead_letters_total", "Messages that left their queue as dead letters, or would have",
				o.count, "reason", r.name, "strategy", o.strategy)
		}
	}
	for _, r := range reasons(&m.DeadLetters) {
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
			w.counter("candlemark_dead_letter_outcomes_total", "What became of dead letters", o.count, "reason", r.name, "outcome", o.outcome)
		}
	}
	w.gauge("candlemark_actors_busy", "Actors that have their turn or wait for one", float64(m.Actors.Busy))
	w.gauge("candlemark_mailbox_mails", "Mails that wait in the mailboxes of those actors", float64(m.Actors.Mails))
	w.gauge("candlemark_mailbox_longest_mails", "Mails in the fullest of those mailboxes", float64(m.Actors.Longest))
	for _, kind := range slices.Sorted(maps.Keys(m.Panics)) {
		w.counter("candlemark_actor_panics_total", "Actors that panicked and went on, began anew or ended, by kind", m.Panics[kind], "actor", kind)
	}
	if j := m.Journal; j != nil {
		w.histogram("candlemark_journal_commit_seconds", "How long it took to write and sync a batch of records", j.Commits)
		w.counter("candlemark_journal_records_total", "Records in those batches", j.Records)
		w.counter("candlemark_journal_written_bytes_total", "Bytes written", j.Written)
		w.gauge("candlemark_journal_bytes", "Bytes of the journal's files", float64(j.Bytes))
		w.gauge("candlemark_journal_messages", "Messages in the journal", float64(j.Live))
	}
}
