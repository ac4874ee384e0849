package erlang

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"candlemark/protocol"
)

// Field prints the value of a field table; it panics for any other type. Two values are the same Erlang term if and
// only if this prints the same for both.
func Field(v any) string {
	if n, ok := protocol.Int64(v); ok {
		return strconv.FormatInt(n, 10)
	}
	switch v := v.(type) {
	case nil:
		return "undefined"
	case bool:
		return strconv.FormatBool(v)
	case float32:
		return Float(float64(v))
	case float64:
		return Float(v)
	case protocol.Decimal:
		return fmt.Sprintf("{%d,%d}", v.Scale, v.Value)
	case string:
		return Binary(v)
	case []byte:
		return Binary(string(v))
	case protocol.Timestamp:
		return strconv.FormatUint(uint64(v), 10)
	case protocol.Table:
		items := make([]string, len(v))
		for i, f := range v {
			items[i] = "{" + Binary(f.Key) + "," + protocol.TypeName(f.Value) + "," + Field(f.Value) + "}"
		}
		return "[" + strings.Join(items, ",") + "]"
	case protocol.Array:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = "{" + protocol.TypeName(item) + "," + Field(item) + "}"
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		panic(fmt.Sprintf("erlang: %T is no field table value", v))
	}
}

// Binary prints a binary: <<"abc">>, <<"é"/utf8>>, or <<1,2>> when it is not
// printable text.
func Binary(s string) string {
	if s == "" {
		return "<<>>"
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !Printable(r) }) {
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
	return "<<" + String(s) + suffix + ">>"
}

// String prints a printable string in double quotes.
func String(s string) string {
	return `"` + escapes.Replace(s) + `"`
}

var escapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`,
	"\v", `\v`, "\b", `\b`, "\f", `\f`, "\x1b", `\e`)

// Printable reports whether Erlang shows a character as it is or with an escape.
func Printable(r rune) bool {
	switch {
	case r >= 0x20 && r <= 0x7e, r >= 0xa0 && r < 0xd800, r > 0xdfff && r < 0xfffe, r >= 0x10000 && r <= utf8.MaxRune:
		return true
	default:
		return r >= '\b' && r <= '\r' || r == 0x1b
	}
}

// Float prints the shortest digits that read back as f, with an exponent
// only where that is shorter or f is beyond the integers a float can hold.
func Float(f float64) string {
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
