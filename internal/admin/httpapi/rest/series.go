package rest

import (
	"iter"
	"net/http"

	"candlemark/internal/measure/events"
	"candlemark/internal/text/jsonencode"
)

// atOnce is the maximum number of objects of a list to collect in one turn, if the list is shown whole and in its own
// order.
const atOnce = 200

// series is a list that is collected and sent in parts, so that the broker holds one part of it.
type series struct {
	first any // the first part
	count int // of all objects
	next  func(from, to int) (any, error)
}

// Pieces is an answer with 200 in JSON that is made piece by piece while it is sent.
type Pieces iter.Seq[[]byte]

// sendPieces sends Pieces. The turn ends with the first one.
func (r *Request) sendPieces(all Pieces) {
	if r.out == nil {
		r.out = r.open()
	}
	headers(r.W)
	if r.Method == http.MethodHead {
		return
	}
	for piece := range all {
		if !r.out.Write(piece, r.collected) {
			return
		}
	}
}

// PiecesOf encodes a list in pieces of some objects each.
func PiecesOf[T any](list []T) Pieces {
	if list == nil {
		list = []T{}
	}
	return func(yield func([]byte) bool) {
		some, from := false, 0
		for {
			to := min(from+atOnce, len(list))
			if !yield(joined(jsonencode.Marshal(list[from:to:to]), from == 0, to == len(list), &some)) || to == len(list) {
				return
			}
			from = to
		}
	}
}

// continued sends a series. When a later part fails, the client gets an answer without an end.
func (r *Request) continued(s *series) {
	if r.out == nil {
		r.out = r.open()
	}
	headers(r.W)
	if r.Method == http.MethodHead {
		return
	}
	part, some := s.first, false
	for from := 0; ; {
		body := jsonencode.Marshal(part)
		part = nil
		first := from == 0
		from = min(from+atOnce, s.count)
		if !r.out.Write(joined(body, first, from == s.count, &some), r.collected) || from == s.count {
			return
		}
		var err error
		if part, err = r.later(s, from); err != nil {
			panic(http.ErrAbortHandler) // closes the connection
		}
	}
}

// joined turns a list into the first, last or a middle part of a longer one; some tells whether there were items before.
func joined(list []byte, first, last bool, some *bool) []byte {
	empty := len(list) == len("[]")
	switch {
	case first: // keeps its bracket
	case empty || !*some:
		list = list[1:]
	default:
		list[0] = ','
	}
	if !empty {
		*some = true
	}
	if !last {
		list = list[:len(list)-1]
	}
	return list
}

// later collects a later part, in a turn of its own.
func (r *Request) later(s *series, from int) (any, error) {
	ctx, cancel := r.Broker.WithTimeout(events.WithOrigin(r.plain.Context(), r.origin()), Patience)
	defer cancel()
	r.Request = r.WithContext(ctx)
	if err := r.takeTurn(ctx, &r.lists); err != nil {
		return nil, err
	}
	return s.next(from, min(from+atOnce, s.count))
}
