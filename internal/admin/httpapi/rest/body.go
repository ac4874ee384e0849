package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"
)

// Limits on the body of a request, in bytes.
const (
	maxBody = 1 << 20
	// maxForm is the limit for a login, which strangers may send.
	maxForm = 4 << 10
	// maxPublish is the limit for a publish: a message of the largest size in base64, and its properties.
	maxPublish = 24 << 20
	// maxDocument is the limit for definitions.
	maxDocument = 24 << 20
)

// Body is the JSON object in a request. Its methods keep the first error, which may be a missing object: then the Body
// is empty.
type Body struct {
	Fields map[string]json.RawMessage
	Err    error
}

// JSON reads a request's JSON object, which must have the keys; an empty body is an empty object.
func (r *Request) JSON(keys ...string) *Body { return r.object(maxBody, decodedJSON, keys) }

// JSONWithMessage is JSON for an object that contains a message.
func (r *Request) JSONWithMessage(keys ...string) *Body {
	return r.object(maxPublish, decodedText, keys)
}

// Raw reads the body of a request as undecoded JSON.
func (r *Request) Raw() ([]byte, error) { return r.text(maxBody, decodedJSON) }

// Document reads a large text: the body, or the field "file" of a form.
func (r *Request) Document() ([]byte, error) {
	text, err := r.text(maxDocument, decodedDocument)
	if err != nil {
		return nil, err
	}
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return text, nil
	}
	for form := multipart.NewReader(bytes.NewReader(text), parameters["boundary"]); ; {
		part, err := form.NextPart()
		if err != nil {
			return nil, Complaint("the form has no field \"file\"")
		}
		if part.FormName() == "file" {
			return io.ReadAll(part)
		}
	}
}

func (r *Request) object(limit int64, memory func([]byte) int64, keys []string) *Body {
	b := &Body{Fields: map[string]json.RawMessage{}}
	text, err := r.text(limit, memory)
	switch strings.TrimSpace(string(text)) {
	case "", "null", "undefined":
		b.Fail(err)
	default:
		if json.Unmarshal(text, &b.Fields) != nil {
			clear(b.Fields)
			if json.Unmarshal(text, new(string)) == nil {
				b.Fail(Complaint("invalid payload: the request body JSON-decoded to a string. Is the input doubly-JSON-encoded?"))
			}
			b.Fail(Complaint("not_json"))
		}
	}
	b.Need(keys...)
	return b
}

// Fail keeps an error unless there is one already.
func (b *Body) Fail(err error) {
	if b.Err == nil {
		b.Err = err
	}
}

// Need complains, as RabbitMQ does, of keys that the object lacks.
func (b *Body) Need(keys ...string) {
	var missing []string
	for _, key := range keys {
		if !b.Has(key) {
			missing = append(missing, "{key_missing,"+key+"}")
		}
	}
	if missing != nil {
		b.Fail(Complaint("[" + strings.Join(missing, ",") + "]"))
	}
}

// Has reports whether the object has the key.
func (b *Body) Has(key string) bool { return b.Fields[key] != nil }

// Decode reads a value, if present, into into; wrong is the error for a value of another type.
func (b *Body) Decode(key string, into any, wrong error) {
	if b.Has(key) && json.Unmarshal(b.Fields[key], into) != nil {
		b.Fail(wrong)
	}
}

// Text returns a string, "" if it is absent.
func (b *Body) Text(key string) (s string) {
	b.Decode(key, &s, TupleOf("not_string", key))
	return s
}

// Flag returns a boolean, which some clients write as a text; false if it is absent.
func (b *Body) Flag(key string) bool {
	switch string(b.Fields[key]) {
	case "", "false", `"false"`:
		return false
	case "true", `"true"`:
		return true
	}
	b.Fail(TupleOf("not_boolean", b.Fields[key]))
	return false
}

// Integer returns a whole number, which may be written as a text.
func (b *Body) Integer(key string) int {
	n, err := strconv.Atoi(strings.Trim(string(b.Fields[key]), `"`))
	if err != nil {
		b.Fail(TupleOf("not_integer", b.Fields[key]))
	}
	return n
}

// BareValue returns a JSON string or number without quotes.
func BareValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Tags reads the tags of a user or virtual host: a list of texts, or a text with commas between them. Without any it is
// empty, not nil.
func (b *Body) Tags() []string {
	var words []string
	if b.Has("tags") && json.Unmarshal(b.Fields["tags"], &words) != nil {
		words = strings.Split(b.Text("tags"), ",")
	}
	trimmed := []string{}
	for _, word := range words {
		if word = strings.TrimSpace(word); word != "" {
			trimmed = append(trimmed, word)
		}
	}
	return trimmed
}
