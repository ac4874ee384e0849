package policies

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"candlemark/internal/text/erlang"
)

// jsonTerm prints a JSON value (see json.go).
func jsonTerm(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return string(v)
	case string:
		return erlang.Binary(v)
	case []any:
		if text, ok := printableList(v); ok {
			return text
		}
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = jsonTerm(item)
		}
		return "[" + strings.Join(items, ",") + "]"
	case Definition:
		items := make([]string, len(v))
		for i, e := range v {
			items[i] = erlang.Binary(e.Key) + " => " + jsonTerm(e.Value)
		}
		return "#{" + strings.Join(items, ",") + "}"
	default:
		panic(fmt.Sprintf("policies: %T is not a JSON value", v))
	}
}

// printableList prints a list of character codes as the string that Erlang
// takes it for: [97,98] is "ab".
func printableList(list []any) (string, bool) {
	var b strings.Builder
	for _, item := range list {
		n, ok := integer(item)
		if !ok || n < 0 || n > utf8.MaxRune || !erlang.Printable(rune(n)) {
			return "", false
		}
		b.WriteRune(rune(n))
	}
	return erlang.String(b.String()), len(list) > 0
}
