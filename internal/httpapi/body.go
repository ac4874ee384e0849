package httpapi

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Limits on the body of a request, in bytes.
const (
	maxBody = 1 << 20
	// largestPublish is that of a publish: a message of the largest size in base64, and its properties.
	largestPublish = 24 << 20
)

// body is a JSON object that a request brings. What reads it keeps the first thing that is wrong.
type body struct {
	fields map[string]json.RawMessage
	err    error
}

// json reads a request's JSON object, which must have the keys; an empty body is an empty object.
func (r *request) json(keys ...string) (*body, error) { return r.object(maxBody, decodedJSON, keys) }

// jsonWithMessage is json for an object that has a message in it.
func (r *request) jsonWithMessage(keys ...string) (*body, error) {
	return r.object(largestPublish, decodedText, keys)
}

// raw reads the body of a request that is to be JSON.
func (r *request) raw() ([]byte, error) { return r.text(maxBody, decodedJSON) }

func (r *request) object(limit, decoded int64, keys []string) (*body, error) {
	text, err := r.text(limit, decoded)
	if err != nil {
		return nil, err
	}
	b := &body{fields: map[string]json.RawMessage{}}
	switch strings.TrimSpace(string(text)) {
	case "", "null", "undefined":
	default:
		if json.Unmarshal(text, &b.fields) != nil {
			if json.Unmarshal(text, new(string)) == nil {
				return nil, complaint("invalid payload: the request body JSON-decoded to a string. Is the input doubly-JSON-encoded?")
			}
			return nil, complaint("not_json")
		}
	}
	b.need(keys...)
	return b, b.err
}

// fail keeps an error unless there is one already.
func (b *body) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// need tells, as RabbitMQ does, which of the keys the object does not have.
func (b *body) need(keys ...string) {
	var missing []string
	for _, key := range keys {
		if !b.has(key) {
			missing = append(missing, "{key_missing,"+key+"}")
		}
	}
	if missing != nil {
		b.fail(complaint("[" + strings.Join(missing, ",") + "]"))
	}
}

func (b *body) has(key string) bool { return b.fields[key] != nil }

// decode reads a value of any kind if it is there; what is told if it is of another kind.
func (b *body) decode(key string, into any, wrong error) {
	if b.has(key) && json.Unmarshal(b.fields[key], into) != nil {
		b.fail(wrong)
	}
}

// text is a string, "" if it is absent.
func (b *body) text(key string) (s string) {
	b.decode(key, &s, tupleOf("not_string", key))
	return s
}

// flag is a truth, which may be written as a text: some clients do. Absent it is
// false.
func (b *body) flag(key string) bool {
	switch string(b.fields[key]) {
	case "", "false", `"false"`:
		return false
	case "true", `"true"`:
		return true
	}
	b.fail(tupleOf("not_boolean", b.fields[key]))
	return false
}

// integer is a whole number, which may be written as a text.
func (b *body) integer(key string) int {
	n, err := strconv.Atoi(strings.Trim(string(b.fields[key]), `"`))
	if err != nil {
		b.fail(tupleOf("not_integer", b.fields[key]))
	}
	return n
}

// bareValue is a JSON string or number without quotes.
func bareValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
