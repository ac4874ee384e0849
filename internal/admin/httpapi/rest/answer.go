package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/text/jsonencode"
	"candlemark/internal/transport/budget"
)

// Handler answers a request: with a value, which is sent as JSON with 200, with nil for 204, with Stored, Unavailable
// or Stream, or with an error, which StatusOf turns into a status and a body.
type Handler func(*Request) (any, error)

// reply is an answer with a status other than 200; without a body if that is nil.
type reply struct {
	status int
	body   any
}

// Stored answers for a PUT that has succeeded.
func Stored(created bool) any {
	if created {
		return reply{http.StatusCreated, nil}
	}
	return nil
}

// Stream is an answer that writes itself, with 200, after the handler has returned.
type Stream func(w http.ResponseWriter, r *http.Request)

// respond sends the result of a handler.
func (r *Request) respond(v any, err error) {
	if c := r.Broker.Clock(); c.Manual() { // from it the web pages know the broker's time
		r.W.Header().Set("Date", time.UnixMilli(c.Wall()).UTC().Format(http.TimeFormat))
	}
	if err != nil {
		status, body := StatusOf(err)
		if status == http.StatusInternalServerError {
			if errors.Is(err, context.Canceled) {
				return // the client has gone
			}
			r.log.Error().Err(err).Str("method", r.Method).Str("path", r.URL.Path).Msg("HTTP request failed")
		}
		if errors.Is(err, management.ErrBusy) {
			r.W.Header().Set("Retry-After", "1")
		}
		v = reply{status, body}
	}
	switch v := v.(type) {
	case nil:
		r.W.WriteHeader(http.StatusNoContent)
	case Stream:
		r.collected()
		v(r.W, r.plain)
	case *Packed:
		if r.out == nil && v.size > budget.FreeUnread {
			r.out = r.open()
		}
		v.sendTo(r.W, r.Method == http.MethodHead, r.out, r.collected)
	case Pieces:
		r.sendPieces(v)
	case *series:
		r.continued(v)
	case reply:
		if v.body == nil {
			r.W.WriteHeader(v.status)
			return
		}
		r.marshalled(v.status, v.body)
	default:
		r.marshalled(http.StatusOK, v)
	}
}

// marshalled sends v as JSON.
func (r *Request) marshalled(status int, v any) {
	body := jsonencode.Marshal(Form(v))
	headers(r.W)
	r.send(status, body)
}

// send sends a body, and ends the turn; what is large counts for the user until the client has read it.
func (r *Request) send(status int, body []byte) {
	if r.out == nil && len(body) > budget.FreeUnread {
		r.out = r.open()
	}
	if r.out == nil {
		r.collected()
		send(r.W, status, body)
		return
	}
	r.W.Header().Set("Content-Length", strconv.Itoa(len(body)))
	r.W.WriteHeader(status)
	if r.Method == http.MethodHead {
		body = nil
	}
	r.out.Write(body, r.collected)
}

// headers sets the headers of answers in JSON.
func headers(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "accept, accept-encoding, origin")
}

// send sends a small body.
func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	deadline(w, 0) // pauses of the broker do not count against the client
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}

// WriteError answers with an error.
func WriteError(w http.ResponseWriter, err error) {
	status, body := StatusOf(err)
	headers(w)
	send(w, status, jsonencode.Marshal(body))
}

// Unavailable returns the answer 503 with a body.
func Unavailable(body any) any { return reply{http.StatusServiceUnavailable, body} }

// Form returns the value of v, the result of a handler; if v is a func() any, it calls that. So the form of large
// answers is made late.
func Form(v any) any {
	if f, ok := v.(func() any); ok {
		return f()
	}
	return v
}
