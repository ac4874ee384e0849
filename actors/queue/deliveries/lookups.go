package deliveries

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// Lookups are the contents to be read for queries and commands only, which are not kept in memory. They are requested in one
// turn and read at its end.
type Lookups struct {
	List []*Lookup
}

// Lookup is one request. Read it, and then handle a LookedUp.
type Lookup struct {
	asked mail.Answerable
	Want  []store.Ref
	found func(contents []store.Content, now clock.Instant)
}

// LookedUp is a mail of the queue to itself: the contents of a lookup were read, in the order of its Want.
type LookedUp struct {
	Lookup   *Lookup
	Contents []store.Content
}

// LookUp requests contents and calls found in a later turn; if the queue ends first, it answers asked, unless nil, instead.
func (l *Lookups) LookUp(asked mail.Answerable, want []store.Ref, found func([]store.Content, clock.Instant)) {
	l.List = append(l.List, &Lookup{asked: asked, Want: want, found: found})
}

// Found continues what has asked for the contents.
func (l *LookedUp) Found(now clock.Instant) { l.Lookup.found(l.Contents, now) }

// Answer implements mail.Answerable for the mail that caused the lookup, if any.
func (l *LookedUp) Answer(f mail.Cause) (mail.Address, any) {
	if l.Lookup.asked == nil {
		return nil, nil
	}
	return l.Lookup.asked.Answer(f)
}
