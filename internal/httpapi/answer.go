package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"candlemark/internal/plainjson"
)

// handler answers a request: with a value, which is sent as JSON with 200, with a reply, with nil for 204, or with an
// error, of which statusOf makes a status and a body.
type handler func(*request) (any, error)

// reply is an answer with another status than 200; without a body if that is nil.
type reply struct {
	status int
	body   any
}

// stored answers for a PUT that has succeeded.
func stored(created bool) any {
	if created {
		return reply{http.StatusCreated, nil}
	}
	return nil
}

// respond sends what a handler has returned.
func (r *request) respond(v any, err error) {
	if err != nil {
		status, body := statusOf(err)
		if status == http.StatusInternalServerError {
			if errors.Is(err, context.Canceled) {
				return // nobody is there to be told
			}
			r.log.Error().Err(err).Str("method", r.Method).Str("path", r.URL.Path).Msg("HTTP request failed")
		}
		v = reply{status, body}
	}
	switch v := v.(type) {
	case nil:
		r.w.WriteHeader(http.StatusNoContent)
	case reply:
		if v.body == nil {
			r.w.WriteHeader(v.status)
			return
		}
		answer(r.w, v.status, v.body)
	default:
		answer(r.w, http.StatusOK, v)
	}
}

// answer sends v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	body := plainjson.Marshal(form(v))
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "accept, accept-encoding, origin")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	// What the broker was paused meanwhile is no time of the client's.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writing)) // if it has one
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever asked may have gone
}

// notFound answers for paths that do not exist.
func notFound(w http.ResponseWriter, _ *http.Request) {
	status, body := statusOf(errNotFound)
	answer(w, status, body)
}

// form returns the value that v, of a handler, stands for: a func() any is called for it. That is for answers whose form
// takes time and memory.
func form(v any) any {
	if f, ok := v.(func() any); ok {
		return f()
	}
	return v
}
