package policies

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"candlemark/protocol"
)

// The texts that clients see contain values printed as Erlang terms (ERR-4,
// POL-5). Here is the part of Erlang's notation that such values need.

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
		return binaryTerm(v)
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
			items[i] = binaryTerm(e.Key) + " => " + jsonTerm(e.Value)
		}
		return "#{" + strings.Join(items, ",") + "}"
	default:
		panic(fmt.Sprintf("policies: %T is no JSON value", v))
	}
}

// amqpTerm prints the value of a field table. Two values are the same Erlang
// term if and only if this prints the same for both.
func amqpTerm(v any) string {
	if n, ok := protocol.Int64(v); ok {
		return strconv.FormatInt(n, 10)
	}
	switch v := v.(type) {
	case nil:
		return "undefined"
	case bool:
		return strconv.FormatBool(v)
	case float32:
		return floatTerm(float64(v))
	case float64:
		return floatTerm(v)
	case protocol.Decimal:
		return fmt.Sprintf("{%d,%d}", v.Scale, v.Value)
	case string:
		return binaryTerm(v)
	case []byte:
		return binaryTerm(string(v))
	case protocol.Timestamp:
		return strconv.FormatUint(uint64(v), 10)
	case protocol.Table:
		items := make([]string, len(v))
		for i, f := range v {
			items[i] = "{" + binaryTerm(f.Key) + "," + protocol.TypeName(f.Value) + "," + amqpTerm(f.Value) + "}"
		}
		return "[" + strings.Join(items, ",") + "]"
	case protocol.Array:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = "{" + protocol.TypeName(item) + "," + amqpTerm(item) + "}"
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		panic(fmt.Sprintf("policies: %T is no field table value", v))
	}
}

// binaryTerm prints a binary: <<"abc">>, <<"é"/utf8>>, or <<1,2>> when it is not
// printable text.
func binaryTerm(s string) string {
	if s == "" {
		return "<<>>"
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !printable(r) }) {
		bytes := make([]string, len(s))
		for i := range len(s) {
			bytes[i] = strconv.Itoa(int(s[i]))
		}
		return "<<" + strings.Join(bytes, ",") + ">>"
	}
	suffix := ""
	if utf8.RuneCountInString(s) != len(s) {
		suffix = "/utf8"
	}
	return "<<" + stringTerm(s) + suffix + ">>"
}

// stringTerm prints a printable string in double quotes.
func stringTerm(s string) string {
	return `"` + erlangEscapes.Replace(s) + `"`
}

var erlangEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`,
	"\v", `\v`, "\b", `\b`, "\f", `\f`, "\x1b", `\e`)

// printableList prints a list of character codes as the string that Erlang
// takes it for: [97,98] is "ab".
func printableList(list []any) (string, bool) {
	var b strings.Builder
	for _, item := range list {
		n, ok := integer(item)
		if !ok || n < 0 || n > utf8.MaxRune || !printable(rune(n)) {
			return "", false
		}
		b.WriteRune(rune(n))
	}
	return stringTerm(b.String()), len(list) > 0
}

func printable(r rune) bool {
	switch {
	case r >= 0x20 && r <= 0x7e, r >= 0xa0 && r < 0xd800, r > 0xdfff && r < 0xfffe, r >= 0x10000 && r <= utf8.MaxRune:
		return true
	default:
		return r >= '\b' && r <= '\r' || r == 0x1b
	}
}

// floatTerm prints the shortest digits that read back as f, with an exponent
// only where that is shorter or f is beyond the integers a float can hold.
func floatTerm(f float64) string {
	text := strconv.FormatFloat(f, 'e', -1, 64)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return text
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	exp, _ := strconv.Atoi(exponent)
	if f == 0 {
		return sign + "0.0"
	}
	return sign + placePoint(digits, exp, math.Abs(f) >= 1<<53)
}

// placePoint writes 0.DIGITS × 10^(exp+1).
func placePoint(digits string, exp int, huge bool) string {
	fraction := digits[1:]
	if fraction == "" {
		fraction = "0"
	}
	scientific := digits[:1] + "." + fraction + "e" + strconv.Itoa(exp)
	var plain string
	switch place := exp + 1; {
	case huge:
		return scientific
	case place <= 0:
		plain = "0." + strings.Repeat("0", -place) + digits
	case place >= len(digits):
		plain = digits + strings.Repeat("0", place-len(digits)) + ".0"
	default:
		return digits[:place] + "." + digits[place:]
	}
	if len(plain) <= len(scientific) {
		return plain
	}
	return scientific
}
