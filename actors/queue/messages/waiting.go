package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/internal/storage/store"
)

// waiting are messages that wait for a time: scheduled ones, or those postponed until a delayed retry.
type waiting interface {
	// backlog may be called if there are any.
	backlog() *backlog.Backlog
	// behind yields messages after a position, by time and number.
	behind(due int64, seq uint64, yield func(backlog.Handle) bool)
	// waits reports whether the message with a handle and number is still one of these.
	waits(h backlog.Handle, seq uint64) bool
	due(h backlog.Handle) int64
	// hash returns the hash of a message's message-id, 0 for none, if it is known.
	hash(h backlog.Handle) (id uint32, known bool)
	drop(h backlog.Handle)
	postpone(h backlog.Handle, due int64)
}

type planned struct{ s *Messages }

func (p planned) backlog() *backlog.Backlog { return &p.s.Scheduled.Messages.Backlog }

func (p planned) behind(due int64, seq uint64, yield func(backlog.Handle) bool) {
	if p.s.Scheduled != nil {
		p.s.Scheduled.Behind(due, seq, yield)
	}
}

func (p planned) waits(h backlog.Handle, seq uint64) bool {
	return p.s.Scheduled != nil && p.backlog().Has(h, seq)
}

func (p planned) due(h backlog.Handle) int64 { return p.backlog().Deadline(h) }

func (p planned) hash(h backlog.Handle) (uint32, bool) { return p.s.Scheduled.HashOf(h), true }

func (p planned) drop(h backlog.Handle) { p.s.Scheduled.Drop(&p.s.Journal, h, store.Cancelled) }

func (p planned) postpone(h backlog.Handle, due int64) {
	p.s.Scheduled.Reschedule(&p.s.Journal, h, due)
}

type postponed struct{ s *Messages }

func (p postponed) backlog() *backlog.Backlog { return &p.s.Backlog }

func (p postponed) behind(due int64, seq uint64, yield func(backlog.Handle) bool) {
	p.s.Deferred.Behind(due, seq, yield)
}

func (p postponed) waits(h backlog.Handle, seq uint64) bool {
	if !p.s.Backlog.Has(h, seq) {
		return false
	}
	_, is := p.s.Deferred.Until(h)
	return is
}

func (p postponed) due(h backlog.Handle) int64 {
	until, _ := p.s.Deferred.Until(h)
	return until
}

func (postponed) hash(backlog.Handle) (uint32, bool) { return 0, false }

func (p postponed) drop(h backlog.Handle) {
	p.s.Deferred.Take(h)
	p.s.Remove(h, store.Cancelled)
}

func (p postponed) postpone(h backlog.Handle, due int64) {
	p.s.Journal.Postpone(p.s.Backlog.Entry(h), due)
	p.s.Deferred.Postpone(h, due)
}
