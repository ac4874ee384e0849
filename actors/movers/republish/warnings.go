package republish

import (
	"strings"

	"candlemark/internal/routing/message"

	"github.com/rs/zerolog"
)

// warning is a kind of warning.
type warning uint8

const (
	exceeds    warning = iota // too many copies
	waits                     // copies wait
	unroutable                // too many steps
	cycles
	copies // by actions
	warningKinds
)

// perMinute is how many warnings of a kind are logged in a minute. Cycles and actions are logged once each.
var perMinute = [warningKinds]int{exceeds: 1, waits: 1, unroutable: 1, cycles: 10, copies: 10}

// maxWarned is the maximum number of cycles and actions to remember; beyond it all are forgotten and may be logged
// again.
const maxWarned = 1000

// warnings bounds the number of warnings that messages can cause. The zero value has logged none.
type warnings struct {
	logged map[string]struct{} // cycles and actions
	kinds  [warningKinds]struct {
		since        int64 // begin of the minute, ms
		logged, more int   // in it, and warnings not logged since the last line
	}
}

// may reports whether another warning of a kind is logged at a time in ms.
func (w *warnings) may(kind warning, now int64) bool {
	k := &w.kinds[kind]
	if k.logged == 0 || now-k.since >= 60_000 || now < k.since {
		k.since, k.logged = now, 0
	}
	if k.logged == perMinute[kind] {
		k.more++
		return false
	}
	k.logged++
	return true
}

// line begins a warning, with the number of warnings not logged.
func (w *warnings) line(log zerolog.Logger, kind warning) *zerolog.Event {
	e, k := log.Warn(), &w.kinds[kind]
	if k.more > 0 {
		e = e.Int("not_logged", k.more)
	}
	k.more = 0
	return e
}

// first reports whether a warning was not logged yet, or has been forgotten.
func (w *warnings) first(about string) bool {
	if _, known := w.logged[about]; known {
		return false
	}
	if w.logged == nil {
		w.logged = map[string]struct{}{}
	}
	if len(w.logged) == maxWarned {
		clear(w.logged)
	}
	w.logged[about] = struct{}{}
	return true
}

// warnOfCopy logs, once, that an action fails for some messages.
func (s *state) warnOfCopy(c pendingCopy) {
	q := c.target
	if q.Action != nil && s.warnings.first("copy\x00"+q.Name+"\x00"+q.Action.ID) && s.warnings.may(copies, s.now) {
		s.warnings.line(s.log, copies).Str("queue", q.Name).Str("rule", q.Action.Rule).Str("from", c.message.batch.Queue).
			Msg("dead letter or forwarded message dropped for a rule: the rule's action failed, or the queue does not accept the result; logged once per rule")
	}
}

// warnOfCycle logs a cycle, but only once (DL-27).
func (s *state) warnOfCycle(o *message.Overlay, target string) {
	queues := []string{target}
	for _, d := range o.Deaths {
		queues = append(queues, d.Queue)
		if d.Queue == target {
			break
		}
	}
	if s.warnings.first(strings.Join(queues, "\x00")) && s.warnings.may(cycles, s.now) {
		s.warnings.line(s.log, cycles).Strs("queues", queues).
			Msg("dead letter dropped: it would return to a queue that dead-lettered it, without having been rejected; logged once per cycle")
	}
}
