package messages

import (
	"candlemark/internal/storage/store"

	"github.com/rs/zerolog"
)

// This part collects what a turn of one queue reports to the broker's counters and its log.
//
// Owns: reports not yet written. It does not depend on the queue.
//
// Deadlines: none. A turn that panics loses its reports.

// Notices are the reports of a turn. The zero value is empty and ready to use.
type Notices struct {
	dropped noticeCounts
	rare    *RareNotices // nil if there are none, to keep the queue small
}

// noticeCounts are numbers of messages by the reason of their end.
type noticeCounts [store.Failed + 1]uint32

// RareNotices holds rare events to be logged.
type RareNotices struct {
	Damaged []uint64 // messages that the journal has lost
	Unread  error    // why messages cannot be read at present
	Broken  error    // error of the journal if it failed in this turn
	Overdue int      // scheduled messages given up by Rule (DLY-13)
	Rule    string
	Purged  int // scheduled messages dropped with the queue or by a purge (DLY-12)
	Lost    int // messages that were to arrive elsewhere and were lost with the queue (LEASE-14)
}

// Rare returns the turn's rare events, for adding.
func (n *Notices) Rare() *RareNotices {
	if n.rare == nil {
		n.rare = &RareNotices{}
	}
	return n.rare
}

// Dropped counts a message that ended and is not dead-lettered.
func (n *Notices) Dropped(why store.Reason) { n.dropped[why]++ }

// Purged counts scheduled messages that were dropped before their time.
func (n *Notices) Purged(messages int) {
	if messages > 0 {
		n.Rare().Purged += messages
	}
}

// Lost counts messages that were to arrive elsewhere and are lost with the queue.
func (n *Notices) Lost(messages int) {
	if messages > 0 {
		n.Rare().Lost += messages
	}
}

// Counts calls died for each reason with dropped messages, and resets the counts.
func (n *Notices) Counts(died func(why store.Reason, messages uint64)) {
	if n.dropped == (noticeCounts{}) {
		return
	}
	for why, messages := range n.dropped {
		if messages > 0 {
			died(store.Reason(why), uint64(messages))
		}
	}
	n.dropped = noticeCounts{}
}

// Log logs the rare events of the queue with that name, and resets them.
func (n *Notices) Log(log *zerolog.Logger, queue string) {
	r := n.rare
	if r == nil {
		return
	}
	n.rare = nil
	if r.Overdue > 0 {
		log.Warn().Str("queue", queue).Int("messages", r.Overdue).Str("overdue-messages", r.Rule).
			Msg("scheduled messages came due while the broker was down, and were dropped or dead-lettered")
	}
	if r.Purged > 0 {
		log.Info().Str("queue", queue).Int("messages", r.Purged).Msg("scheduled messages were dropped before they were due")
	}
	if r.Lost > 0 {
		log.Warn().Str("queue", queue).Int("messages", r.Lost).
			Msg("a queue has ended before its dead letters or forwarded messages had all arrived; these are lost")
	}
	if n := len(r.Damaged); n > 0 {
		log.Error().Str("queue", queue).Int("messages", n).Uint64("first", r.Damaged[0]).
			Uint64("last", r.Damaged[n-1]).Msg("messages were lost because they are damaged in the journal")
	}
	if r.Unread != nil {
		log.Error().Str("queue", queue).Err(r.Unread).Msg("messages cannot be read from the journal; the queue will try again")
	}
	if r.Broken != nil {
		log.Error().Str("queue", queue).Err(r.Broken).Msg("the journal failed; persistent messages are refused")
	}
}
