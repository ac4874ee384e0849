package message

import (
	"strconv"
	"strings"

	"candlemark/protocol"
)

// MaxTTL is the longest TTL that a client may ask for: 10 years, in ms (TTL-2).
const MaxTTL = 315_360_000_000

// ParseTTL reads an expiration property: an optional sign, then decimal digits
// (TTL-5). The error is a *protocol.ChannelError 406 with the texts of TTL-6.
func ParseTTL(text []byte) (int64, error) {
	digits := text
	negative := false
	if len(digits) > 0 && (digits[0] == '+' || digits[0] == '-') {
		negative = digits[0] == '-'
		digits = digits[1:]
	}
	n := 0
	for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
		n++
	}
	if n == 0 {
		return 0, badTTL(text, "no_integer")
	}
	if n < len(digits) {
		return 0, badTTL(text, "{leftover_string,"+stringTerm(digits[n:])+"}")
	}
	value, err := strconv.ParseInt(string(digits), 10, 64)
	number := trimZeros(string(digits))
	switch {
	case negative && number != "0":
		return 0, badTTL(text, "{value_negative,-"+number+"}")
	case err != nil || value > MaxTTL:
		return 0, badTTL(text, "{value_too_large,"+number+"}")
	}
	return value, nil
}

func trimZeros(digits string) string {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

// stringTerm writes a list of bytes as Erlang prints it (ERR-4): as a string if all are printable, else as numbers.
func stringTerm(list []byte) string {
	text, numbers := []byte{'"'}, []byte{'['}
	readable := true
	for i, b := range list {
		if i > 0 {
			numbers = append(numbers, ',')
		}
		numbers = strconv.AppendUint(numbers, uint64(b), 10)
		if at := strings.IndexByte("\b\t\n\v\f\r\x1b\"\\", b); at >= 0 {
			text = append(text, '\\', "btnvfre\"\\"[at])
			continue
		}
		text = append(text, b)
		readable = readable && b >= ' ' && b != 0x7f
	}
	if readable {
		return string(append(text, '"'))
	}
	return string(append(numbers, ']'))
}

func badTTL(text []byte, term string) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "invalid expiration '%s': %s", text, term)
}
