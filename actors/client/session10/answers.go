package session10

import (
	"slices"

	"candlemark/actors/client/session10/window"
	"candlemark/internal/routing/topology"
)

// This part keeps the answers of a node that the client has requested but for which it has given no credit yet.
//
// Owns: waiting answers. The caller charges the client's unread output with them (internal/transport/budget).
//
// Deadlines: none. A restart loses the answers, and the session with them.

// answerLink is the state of a link on which the client receives the answers of a node. O identifies the link of a request.
type answerLink[O any] struct {
	window.Account
	Node   string // address
	Target string // address that the client has given to its end
	// Requester is the name for direct replies to the link; nil for the answers of a node.
	Requester *topology.Queue
	Settled   bool
	Held      uint32 // answers queued for writing
	Waiting   []*linkAnswer[O]
}

// linkAnswer is an unwritten answer.
type linkAnswer[O any] struct {
	Message []byte
	Of      O
}

// Next removes and returns the waiting answers for which there is credit.
func (l *answerLink[O]) Next() []*linkAnswer[O] {
	n := min(len(l.Waiting), int(max(int64(l.Credit())-int64(l.Held), 0)))
	next := slices.Clone(l.Waiting[:n])
	l.Waiting = slices.Delete(l.Waiting, 0, n)
	l.Held += uint32(n)
	return next
}

// End makes direct replies unroutable, if the link is for them; replies under way are dropped. It may be called on nil.
func (l *answerLink[O]) End(v *topology.VHost) {
	if l != nil && l.Requester != nil {
		v.RemoveRequester(l.Requester)
	}
}

// Rank ranks a link for the answers to a request, lower is better: first a link whose target or name is the reply-to,
// then one with the name of the request's link, then any other.
func (l *answerLink[O]) Rank(name, replyTo, request string) int {
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
