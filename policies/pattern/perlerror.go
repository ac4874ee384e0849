package pattern

import (
	"errors"

	"github.com/dlclark/regexp2/v2/syntax"
)

// perlErrors has the words of RabbitMQ's engine for common mistakes, and whether they have a place other than the end
// of the expression.
var perlErrors = map[syntax.ErrorCode]struct {
	message string
	placed  bool
}{
	syntax.ErrMissingParen:          {"missing )", false},
	syntax.ErrUnexpectedParen:       {"unmatched parentheses", true},
	syntax.ErrUnterminatedBracket:   {"missing terminating ] for character class", false},
	syntax.ErrReversedCharRange:     {"range out of order in character class", true},
	syntax.ErrMissingRepeatArgument: {"nothing to repeat", true},
	syntax.ErrInvalidRepeatOp:       {"nothing to repeat", true},
	syntax.ErrInvalidRepeatSize:     {"numbers out of order in {} quantifier", true},
	syntax.ErrIllegalEndEscape:      {`\ at end of pattern`, false},
	syntax.ErrUndefinedBackRef:      {"reference to non-existent subpattern", false},
}

// maxPlaced is the maximum length in bytes of an expression in which the place of a mistake is searched.
const maxPlaced = 256

// refusal returns the reason why source could not be parsed (err), or not compiled for backtracking (nil).
func refusal(source string, err error) *Error {
	code := errorCode(err)
	known, ok := perlErrors[code]
	switch {
	case !ok:
		return &Error{source, "not supported by this broker", len(source)}
	case known.placed && len(source) <= maxPlaced:
		for at := range len(source) { // the parser does not report the offset: it is the end of the shortest prefix with that error
			if _, err := parse(widen(source[:at+1])); errorCode(err) == code {
				return &Error{source, known.message, at}
			}
		}
	}
	return &Error{source, known.message, len(source)}
}

func errorCode(err error) syntax.ErrorCode {
	if bad, ok := errors.AsType[*syntax.Error](err); ok {
		return bad.Code
	}
	return ""
}
