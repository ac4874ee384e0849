package answers

import (
	"slices"

	"candlemark/actors/session/window"
	"candlemark/internal/topology"
)

// Link is the state of a link that the client receives the answers of a node on. O is where a request came from.
type Link[O any] struct {
	window.Account
	Node   string // address
	Target string // address that the client has given the link
	// Requester is the name under which the client waits for direct replies here; nil for the answers of a node.
	Requester *topology.Queue
	Settled   bool
	Held      uint32 // answers that wait to be written
	Waiting   []*Answer[O]
}

// Answer is an answer that is not written.
type Answer[O any] struct {
	Message []byte
	Of      O
}

// Next takes the answers that there is credit for out of those that wait.
func (l *Link[O]) Next() []*Answer[O] {
	n := min(len(l.Waiting), int(max(int64(l.Credit())-int64(l.Held), 0)))
	next := slices.Clone(l.Waiting[:n])
	l.Waiting = slices.Delete(l.Waiting, 0, n)
	l.Held += uint32(n)
	return next
}

// End makes direct replies unroutable, if the link is for those; the ones on their way are dropped. A nil link is fine.
func (l *Link[O]) End(v *topology.VHost) {
	if l != nil && l.Requester != nil {
		v.RemoveRequester(l.Requester)
	}
}

// Wanted ranks a link for the answers to a request, the lower the better: its target or its name is where the client wants them, or it is called like the
// link of the request; else any is as good.
func (l *Link[O]) Wanted(name, replyTo, request string) int {
	switch {
	case replyTo != "" && l.Target == replyTo:
		return 0
	case replyTo != "" && name == replyTo:
		return 1
	case name == request:
		return 2
	}
	return 3
}
