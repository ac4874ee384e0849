package jsonencode

import (
	"bytes"
	"encoding/json"
)

// Marshal returns the JSON form of v. It panics if v has none: a channel, a function, a number that is not finite.
func Marshal(v any) []byte { return Append(nil, v) }

// Append appends the JSON form of v to b. It panics as Marshal does.
func Append(b []byte, v any) []byte {
	buffer := bytes.NewBuffer(b)
	e := json.NewEncoder(buffer)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
