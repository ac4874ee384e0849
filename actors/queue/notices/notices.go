package notices

import (
	"candlemark/internal/store"

	"github.com/rs/zerolog"
)

// Notices are those of a turn. The zero value says nothing and is ready to use.
type Notices struct {
	dropped counts
	rare    *Rare // nil for nothing of it: a queue is to be small
}

// counts are numbers of messages by the reason why they ended.
type counts [store.Exhausted + 1]uint32

// Rare holds rare events to be logged.
type Rare struct {
	Damaged []uint64 // messages that were lost in the journal
	Unread  error    // why messages could not be read for now
	Broken  error    // how the journal failed, nil if it did not in this turn
	Overdue int      // scheduled messages that were given up (DLY-13), as Rule says
	Rule    string
	Purged  int // or dropped with others (DLY-12)
}

// Rare returns the turn's rare events, to be added to.
func (n *Notices) Rare() *Rare {
	if n.rare == nil {
		n.rare = &Rare{}
	}
	return n.rare
}

// Dropped notes a message that ended and is not dead-lettered.
func (n *Notices) Dropped(why store.Reason) { n.dropped[why]++ }

// Purged notes that many scheduled messages were dropped before their time.
func (n *Notices) Purged(messages int) {
	if messages > 0 {
		n.Rare().Purged += messages
	}
}

// Counts calls died for each reason for which messages were dropped, and forgets them.
func (n *Notices) Counts(died func(why store.Reason, messages uint64)) {
	if n.dropped == (counts{}) {
		return
	}
	for why, messages := range n.dropped {
		if messages > 0 {
			died(store.Reason(why), uint64(messages))
		}
	}
	n.dropped = counts{}
}

// Log logs the rare events of the queue of that name, and forgets them.
func (n *Notices) Log(log *zerolog.Logger, queue string) {
	r := n.rare
	if r == nil {
		return
	}
	n.rare = nil
	if r.Overdue > 0 {
		log.Warn().Str("queue", queue).Int("messages", r.Overdue).Str("overdue-messages", r.Rule).
			Msg("scheduled messages came due while the broker was down, and were given up")
	}
	if r.Purged > 0 {
		log.Info().Str("queue", queue).Int("messages", r.Purged).Msg("scheduled messages were dropped before their time")
	}
	if n := len(r.Damaged); n > 0 {
		log.Error().Str("queue", queue).Int("messages", n).Uint64("first", r.Damaged[0]).
			Uint64("last", r.Damaged[n-1]).Msg("messages are damaged in the journal, and lost")
	}
	if r.Unread != nil {
		log.Error().Str("queue", queue).Err(r.Unread).Msg("messages cannot be read from the journal; trying again")
	}
	if r.Broken != nil {
		log.Error().Str("queue", queue).Err(r.Broken).Msg("the journal failed; persistent messages are refused")
	}
}
