package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"candlemark/internal/text/erlang"
)

// A JSON value is one of nil, bool, string, json.Number, []any and Definition
// (an object). Numbers are kept exactly: an integer as its digits, a float as
// the shortest text that reads back as the same float, so that 60000.0 is never
// taken for 60000 (TTL-8).

// errNumber is the error for a float that exceeds 64 bits; RabbitMQ does not read it either.
var errNumber = errors.New("number out of range")

// decodeJSON reads exactly one value. If a key occurs twice in an object, the first counts, as in RabbitMQ.
func decodeJSON(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, &json.SyntaxError{Offset: validPrefix(text) + 1}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return decodeValue(d)
}

// decodeValue reads the next value of text that is known to be well-formed.
func decodeValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Number:
		return exactNumber(string(t))
	case json.Delim:
		if t == '{' {
			return decodeObject(d)
		}
		return decodeArray(d)
	default:
		return t, nil
	}
}

func decodeArray(d *json.Decoder) (any, error) {
	array := []any{}
	for d.More() {
		v, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
	}
	_, err := d.Token()
	return array, err
}

func decodeObject(d *json.Decoder) (any, error) {
	seen := map[string]bool{}
	object := Definition{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		name := key.(string)
		if !seen[name] {
			seen[name] = true
			object = append(object, Entry{name, v})
		}
	}
	object.sort()
	_, err := d.Token()
	return object, err
}

// exactNumber gives a literal its canonical form.
func exactNumber(literal string) (any, error) {
	if isInteger(json.Number(literal)) {
		if literal == "-0" {
			literal = "0"
		}
		return json.Number(literal), nil
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return nil, errNumber
	}
	return json.Number(erlang.Float(f)), nil
}

// isInteger reports whether n was written without fraction and exponent: 60000.0 and 6e4 are floats.
func isInteger(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

// maxDigits is the maximum number of digits of an integer: as many as the largest float has.
const maxDigits = 309

// inRange reports whether all integers in v have at most maxDigits digits. Values stored by earlier versions may
// have more, so all other code must accept any length.
func inRange(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return len(v) <= maxDigits || len(strings.TrimPrefix(string(v), "-")) <= maxDigits || !isInteger(v)
	case []any:
		for _, item := range v {
			if !inRange(item) {
				return false
			}
		}
	case Definition:
		for _, e := range v {
			if !inRange(e.Value) {
				return false
			}
		}
	}
	return true
}

// integer returns v when it is a JSON integer; one beyond 64 bits becomes the nearest that fits.
func integer(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok || !isInteger(n) {
		return 0, false
	}
	i, _ := strconv.ParseInt(string(n), 10, 64)
	return i, true
}

// jsonReason returns the reason why text is not JSON, in the form of RabbitMQ's decoder (POL-18).
func jsonReason(text []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return "{unexpected_sequence," + erlang.Binary(string(text)) + "}"
	}
	at := syntax.Offset - 1
	if at < 0 || at >= int64(len(text)) || syntax.Error() == "unexpected end of JSON input" {
		return "unexpected_end"
	}
	return "{invalid_byte," + strconv.Itoa(int(text[at])) + "}"
}

// validPrefix returns how many bytes of text are valid UTF-8.
func validPrefix(text []byte) int64 {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return int64(n)
}
