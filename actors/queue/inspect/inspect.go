package inspect

import (
	"cmp"
	"errors"
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/deferred"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/schedule"
	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
)

// View holds the parts of a queue that queries read.
type View struct {
	Messages    *backlog.Backlog
	Scheduled   *schedule.Schedule // nil for none
	Deferred    *deferred.Deferred // nil for none
	Sessions    *sessions.Sessions // nil for none
	Consumers   *consumers.Consumers
	AckTimeouts *deliveries.Timeouts // nil for none
	Expiry      *expiry.Expiry
	Style       content.Style
	Limit       int    // deliveries per step
	Now         *int64 // of the turn, wall ms
}

// Query is a query that may take several turns.
type Query struct {
	// Step examines as much as fits into a turn, and reports whether it is done.
	Step func() (done bool)
	// Still: no message may expire before the answer.
	Still bool
	// Answer is called after the last Step.
	Answer func() Answer
}

// Answer is an answer, sent after the contents in Want, if any, are read.
type Answer struct {
	To    mail.Address
	Reply any
	// Want lists contents to be read; Found adds them to Reply, in the same order.
	Want  []store.Ref
	Found func(contents []store.Content)
}

// limitOf returns the limit of messages for a requested limit n.
func limitOf(n int) int {
	if n < 1 || n > mail.MaxPeeked {
		return mail.MaxPeeked
	}
	return n
}

// wall converts a deadline from the broker's time to the wall clock's (ADR 19), 0 for none.
func (v *View) wall(deadline int64) int64 {
	if deadline == store.Never || deadline == 0 {
		return 0
	}
	return v.Style.Dates.Date(deadline)
}

// lowest keeps the lowest values, up to a limit.
type lowest[T any] struct {
	limit   int
	compare func(a, b T) int
	kept    []T
}

// by returns a comparison by key.
func by[T any, K cmp.Ordered](key func(T) K) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(key(a), key(b)) }
}

func (l *lowest[T]) add(v T) {
	if l.kept = append(l.kept, v); len(l.kept) >= 2*l.limit+64 {
		l.list()
	}
}

// list returns the values in order.
func (l *lowest[T]) list() []T {
	slices.SortFunc(l.kept, l.compare)
	l.kept = l.kept[:min(len(l.kept), l.limit)]
	return l.kept
}

// unread is a content that is not in memory, and the index of its message in a list.
type unread struct {
	ref store.Ref
	at  int
}

// missing holds the unread contents of a list.
type missing []unread

func (m *missing) add(b *backlog.Backlog, h backlog.Handle, at int) {
	*m = append(*m, unread{store.Ref{Seq: b.Seq(h), At: store.Position(b.Place(h))}, at})
}

// refs returns the places of the contents in journal order, which is the fastest to read.
func (m missing) refs() []store.Ref {
	slices.SortStableFunc(m, func(a, b unread) int { return cmp.Compare(a.ref.At, b.ref.At) })
	list := make([]store.Ref, len(m))
	for i := range m {
		list[i] = m[i].ref
	}
	return list
}

// found calls show for each item whose content was read, and returns the list without the items that no longer exist.
func found[T any](m missing, list []T, contents []store.Content, show func(*T, *store.Content)) []T {
	gone := map[int]bool{}
	for i := range contents {
		at := m[i].at
		gone[at] = errors.Is(contents[i].Err, store.ErrUnknown)
		show(&list[at], &contents[i])
	}
	kept := list[:0]
	for at := range list {
		if !gone[at] {
			kept = append(kept, list[at])
		}
	}
	return kept
}
