package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"candlemark/protocol"
)

// answer sends v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	body := encode(v)
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

// encode is json.Marshal without escapes for HTML. A func() any is called for what to write:
// for answers whose form takes time and memory.
func encode(v any) []byte { return encodeBehind("", v) }

// encodeBehind writes JSON behind a prefix.
func encodeBehind(prefix string, v any) []byte {
	if form, ok := v.(func() any); ok {
		v = form()
	}
	b := bytes.NewBufferString(prefix)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // all that we answer with can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// failure is the body of every refusal.
type failure struct {
	Error  string `json:"error"`
	Reason any    `json:"reason"` // a text, or a list for a tuple
}

func fail(w http.ResponseWriter, status int, what, reason string) {
	answer(w, status, failure{what, reason})
}

// notFound answers for what does not exist, objects and paths alike.
func notFound(w http.ResponseWriter, _ *http.Request) {
	fail(w, http.StatusNotFound, "Object Not Found", "Not Found")
}

// refuse answers with an error of the broker.
func (a *api) refuse(r *request, err error) {
	var channel *protocol.ChannelError
	switch {
	case errors.As(err, &channel) && channel.Code == protocol.NotFound:
		notFound(r.w, r.Request)
	case errors.Is(err, context.DeadlineExceeded):
		fail(r.w, http.StatusServiceUnavailable, "timeout", "the broker did not answer in time")
	case errors.Is(err, context.Canceled):
		// Nobody is there to be told.
	default:
		a.log.Error().Err(err).Str("method", r.Method).Str("path", r.URL.Path).Msg("HTTP request failed")
		fail(r.w, http.StatusInternalServerError, "internal_error", err.Error())
	}
}
