package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"candlemark/internal/auth"
	"candlemark/protocol"
)

// largestPublish is how many bytes the body of a publish may have: a message of
// the largest size in base64, and its properties.
const largestPublish = 24 << 20

// body is a request's JSON object; an empty body is an empty object. False: the
// client has been told what is wrong.
func (r *request) body(limit int64) (map[string]json.RawMessage, bool) {
	decoded := int64(decodedJSON)
	if limit > maxBody {
		decoded = decodedText
	}
	text, ok := r.text(limit, decoded)
	if !ok {
		return nil, false
	}
	object := map[string]json.RawMessage{}
	switch strings.TrimSpace(string(text)) {
	case "", "null", "undefined":
		return object, true
	}
	if json.Unmarshal(text, &object) != nil {
		reason := "not_json"
		if json.Unmarshal(text, new(string)) == nil {
			reason = "invalid payload: the request body JSON-decoded to a string. Is the input doubly-JSON-encoded?"
		}
		fail(r.w, http.StatusBadRequest, "bad_request", reason)
		return nil, false
	}
	return object, true
}

// complaint is what a client is told about a request that is wrong.
type complaint string

// Error implements error.
func (c complaint) Error() string { return string(c) }

func complaintf(format string, args ...any) error { return complaint(fmt.Sprintf(format, args...)) }

// tuple is a complaint of several parts, which are told as a list: RabbitMQ makes
// lists of Erlang's tuples.
type tuple struct{ parts []any }

// tupleOf is the complaint that something is not what it has to be. A value that was
// sent is told as it was written (json.RawMessage).
func tupleOf(parts ...any) error { return &tuple{parts} }

// Error implements error.
func (t *tuple) Error() string { return string(encode(t.parts)) }

// words are what a client is told about an error, as JSON has it.
func words(err error) any {
	if t := (*tuple)(nil); errors.As(err, &t) {
		return t.parts
	}
	return err.Error()
}

// missing tells, as RabbitMQ does, which of the keys an object does not have.
func missing(object map[string]json.RawMessage, keys ...string) error {
	var absent []string
	for _, key := range keys {
		if object[key] == nil {
			absent = append(absent, "{key_missing,"+key+"}")
		}
	}
	if absent == nil {
		return nil
	}
	return complaint("[" + strings.Join(absent, ",") + "]")
}

// flag is a truth, which may be written as a text: some clients do. Absent it is
// false.
func flag(object map[string]json.RawMessage, key string) (bool, error) {
	switch string(object[key]) {
	case "", "false", `"false"`:
		return false, nil
	case "true", `"true"`:
		return true, nil
	default:
		return false, tupleOf("not_boolean", object[key])
	}
}

// text is a string, "" if it is absent.
func text(object map[string]json.RawMessage, key string) (string, error) {
	var s string
	if raw := object[key]; raw != nil && json.Unmarshal(raw, &s) != nil {
		return "", tupleOf("not_string", key)
	}
	return s, nil
}

// integer is a whole number, which may be written as a text.
func integer(object map[string]json.RawMessage, key string) (int, error) {
	n, err := strconv.Atoi(strings.Trim(string(object[key]), `"`))
	if err != nil {
		return 0, tupleOf("not_integer", object[key])
	}
	return n, nil
}

// bad answers 400 if err is one, or 500 for what was right but could not be
// stored, and tells whether it did.
func bad(r *request, err error) bool {
	switch {
	case errors.Is(err, auth.ErrNotStored):
		fail(r.w, http.StatusInternalServerError, "internal_error", err.Error())
	case err != nil:
		answer(r.w, http.StatusBadRequest, failure{"bad_request", words(err)})
	}
	return err != nil
}

// bare is the text of a protocol error without the name of its code.
func bare(text string) string {
	if _, explanation, found := strings.Cut(text, " - "); found {
		return explanation
	}
	return text
}

// told is what a protocol error says.
func told(err error) (code uint16, text string, ok bool) {
	var channel *protocol.ChannelError
	if errors.As(err, &channel) {
		return channel.Code, channel.Text, true
	}
	var connection *protocol.ConnectionError
	if errors.As(err, &connection) {
		return connection.Code, connection.Text, connection.Code != protocol.InternalError
	}
	return 0, "", false
}

// decline answers for a command that the broker refused: what RabbitMQ's API
// makes of the errors of the protocol.
func (a *api) decline(r *request, err error) {
	code, text, ok := told(err)
	switch {
	case !ok:
		a.refuse(r, err)
	case code == protocol.NotFound:
		fail(r.w, http.StatusNotFound, "not_found", bare(text))
	case code == protocol.AccessRefused || code == protocol.NotAllowed:
		fail(r.w, http.StatusUnauthorized, "not_authorised", "Access refused.")
	default:
		fail(r.w, http.StatusBadRequest, "bad_request", bare(text))
	}
}

// declineMessage is decline for what moves messages, where RabbitMQ shows the
// whole text.
func (a *api) declineMessage(r *request, err error) {
	code, text, ok := told(err)
	switch {
	case !ok:
		a.refuse(r, err)
	case code == protocol.NotFound:
		fail(r.w, http.StatusNotFound, "not_found", text)
	case code == protocol.AccessRefused:
		fail(r.w, http.StatusUnauthorized, "not_authorised", text)
	case code == protocol.NotAllowed:
		fail(r.w, http.StatusUnauthorized, "not_authorised", "Access refused.")
	default:
		fail(r.w, http.StatusBadRequest, "bad_request", fmt.Sprintf("%d %s", code, text))
	}
}

// run has the broker carry out a method as the user, and answers if that fails.
func (a *api) run(r *request, m protocol.Method) bool {
	_, err := a.broker.Run(r.Context(), r.user, r.vhost, m)
	if err != nil {
		a.decline(r, err)
	}
	return err == nil
}

// known tells whether there is the virtual host of the path; if not, it has
// answered as commands are.
func (a *api) known(r *request) bool {
	known, err := a.hasVHost(r.Context(), r.vhost)
	switch {
	case err != nil:
		a.refuse(r, err)
	case !known:
		fail(r.w, http.StatusNotFound, "not_found", "vhost_not_found")
	}
	return err == nil && known
}

// done answers for a PUT that has succeeded.
func done(r *request, existed bool) {
	if existed {
		r.w.WriteHeader(http.StatusNoContent)
		return
	}
	r.w.WriteHeader(http.StatusCreated)
}
