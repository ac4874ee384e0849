package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/text/jsonencode"
	"candlemark/internal/text/redact"
	"candlemark/protocol"
)

// failure is the body of every refusal.
type failure struct {
	Error  string `json:"error"`
	Reason any    `json:"reason"` // a text, or a list for a tuple
}

// refusal is an error with the answer for the client.
type refusal struct {
	status int
	failure
}

// Error implements error.
func (f *refusal) Error() string {
	if text, ok := f.Reason.(string); ok {
		return text
	}
	return string(jsonencode.Marshal(f.Reason))
}

// ErrNotFound is the error for missing objects and unknown paths.
var ErrNotFound = Refuse(http.StatusNotFound, "Object Not Found", "Not Found")

// Refuse returns an error with the status and texts of a refusal.
func Refuse(status int, what, reason string) error { return &refusal{status, failure{what, reason}} }

// Nonexistent returns an error 404 with a reason.
func Nonexistent(reason string) error { return Refuse(http.StatusNotFound, "not_found", reason) }

// Unauthorised returns the error for a user without the required rights, with a reason.
func Unauthorised(reason string) error {
	return Refuse(http.StatusUnauthorized, "not_authorised", reason)
}

// Complaintf is Complaint with a format.
func Complaintf(format string, args ...any) error { return Complaint(fmt.Sprintf(format, args...)) }

// Complaint returns an error 400 with a reason.
func Complaint(reason string) error { return Refuse(http.StatusBadRequest, "bad_request", reason) }

// TupleOf returns a complaint with a reason in several parts, shown as a list: RabbitMQ makes lists of Erlang's tuples.
// A value from the request is shown as it was written (json.RawMessage).
func TupleOf(parts ...any) error {
	return &refusal{http.StatusBadRequest, failure{"bad_request", parts}}
}

// Invalid turns a validation error into a complaint. An error of storing a valid request is not one.
func Invalid(err error) error {
	if err == nil || errors.As(err, new(*refusal)) || errors.Is(err, auth.ErrNotStored) {
		return err
	}
	return Complaint(err.Error())
}

// StatusOf returns the status and the body that an error is answered with. Its text has no secrets of the request (ACC-11).
func StatusOf(err error) (int, failure) {
	status, body := statusOf(err)
	if text, ok := body.Reason.(string); ok {
		body.Reason = redact.Text(text)
	}
	return status, body
}

func statusOf(err error) (int, failure) {
	var known *refusal
	var channel *protocol.ChannelError
	switch {
	case errors.As(err, &known):
		return known.status, known.failure
	case errors.As(err, &channel) && channel.Code == protocol.NotFound:
		return statusOf(ErrNotFound)
	case errors.Is(err, management.ErrBusy):
		return http.StatusServiceUnavailable, failure{"service_unavailable", err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, failure{"timeout", "the broker did not answer in time"}
	}
	return http.StatusInternalServerError, failure{"internal_error", err.Error()}
}

// ProtocolError returns the code and text of an error of the protocol, code 0 for any other one.
func ProtocolError(err error) (code uint16, text string) {
	var channel *protocol.ChannelError
	var connection *protocol.ConnectionError
	switch {
	case errors.As(err, &channel):
		return channel.Code, channel.Text
	case errors.As(err, &connection) && connection.Code != protocol.InternalError:
		return connection.Code, connection.Text
	}
	return 0, ""
}

// Declined returns the answer for a command that the broker refused: like RabbitMQ's API for errors of the protocol,
// without the name of the code.
func Declined(err error) error {
	code, text := ProtocolError(err)
	_, explanation, _ := strings.Cut(text, " - ")
	text = cmp.Or(explanation, text)
	switch code {
	case 0:
		return err
	case protocol.NotFound:
		return Nonexistent(text)
	case protocol.AccessRefused, protocol.NotAllowed:
		return Unauthorised("Access refused.")
	}
	return Complaint(text)
}
