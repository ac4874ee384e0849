// Package jsonencode encodes values as encoding/json does, but without escaping <, > and &, since none of its output is
// embedded in HTML.
package jsonencode
