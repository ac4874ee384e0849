package rabbitmqadmin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// spaced returns JSON as Python writes it: with a space after commas and colons, and only ASCII.
func spaced(raw json.RawMessage) string {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return string(raw)
	}
	var b strings.Builder
	for text := compact.Bytes(); len(text) > 0; {
		if text[0] != '"' {
			b.WriteByte(text[0])
			if text[0] == ',' || text[0] == ':' {
				b.WriteByte(' ')
			}
			text = text[1:]
			continue
		}
		end := 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		b.WriteString(quoted(text[:end+1]))
		text = text[end+1:]
	}
	return b.String()
}

// quoted returns a text of JSON with escapes in Python's way.
func quoted(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case strings.ContainsRune("\n\r\t\b\f", r):
			b.WriteString(map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}[r])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case r < ' ' || r > '~':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// cell returns a value that is no object, as a table shows it.
func cell(raw json.RawMessage) string {
	var text string
	switch {
	case string(raw) == "null":
		return ""
	case string(raw) == "true":
		return "True"
	case string(raw) == "false":
		return "False"
	case raw[0] == '[':
		var texts []string
		if json.Unmarshal(raw, &texts) == nil {
			return strings.Join(texts, " ")
		}
		return spaced(raw)
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw) // a number
}

// pretty has a line for each value, and keys in their order.
func pretty(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	return b.String(), err
}
