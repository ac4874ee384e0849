package topology

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"candlemark/protocol"
)

// ValidateBinding checks the arguments of a new binding from an exchange of type kind, as the exchange type would: nil when they are
// good, else a 406 channel error with RabbitMQ's text. Only headers exchanges refuse anything, namely an x-match that is not one of
// the strings all, any, all-with-x and any-with-x; it may be absent.
func ValidateBinding(kind string, args protocol.Table) *protocol.ChannelError {
	if kind != "headers" {
		return nil
	}
	switch v, found := args.Get("x-match"); {
	case !found, v == "all", v == "any", v == "all-with-x", v == "any-with-x":
		return nil
	default:
		if _, text := v.(string); text {
			return protocol.ChannelErrorf(protocol.PreconditionFailed,
				"Invalid x-match field value %s; expected all, any, all-with-x, or any-with-x", term(v))
		}
		return protocol.ChannelErrorf(protocol.PreconditionFailed,
			"Invalid x-match field type %s (value %s); expected longstr", protocol.TypeName(v), term(v))
	}
}

// term writes a field value as an Erlang term, which is what clients of RabbitMQ see in such texts (ERR-4).
func term(v any) string {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case string:
		return binaryTerm(v)
	case []byte:
		return binaryTerm(string(v))
	case float32:
		return floatTerm(float64(v))
	case float64:
		return floatTerm(v)
	case protocol.Decimal:
		return fmt.Sprintf("{%d,%d}", v.Scale, v.Value)
	case protocol.Table:
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = "{" + binaryTerm(f.Key) + "," + protocol.TypeName(f.Value) + "," + term(f.Value) + "}"
		}
		return "[" + strings.Join(parts, ",") + "]"
	case protocol.Array:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = "{" + protocol.TypeName(e) + "," + term(e) + "}"
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return fmt.Sprint(v)
}

// binaryTerm writes a binary: as text when all of it can be printed, else as numbers.
func binaryTerm(s string) string {
	if s == "" {
		return "<<>>"
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		numbers := make([]string, len(s))
		for i := range len(s) {
			numbers[i] = strconv.Itoa(int(s[i]))
		}
		return "<<" + strings.Join(numbers, ",") + ">>"
	}
	text := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	if len(s) != utf8.RuneCountInString(s) {
		text += "/utf8"
	}
	return "<<" + text + ">>"
}

// floatTerm writes the shortest digits that read back as f, with the fraction that Erlang never leaves out.
func floatTerm(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if mantissa, exponent, split := strings.Cut(s, "e"); split {
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		return mantissa + "e" + strings.TrimPrefix(exponent, "+")
	}
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
