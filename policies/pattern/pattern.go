package pattern

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dlclark/regexp2/v2/syntax"
)

// Pattern is a compiled expression that is searched in names. RabbitMQ's are Perl-compatible and work on bytes. It is
// safe for concurrent use. Most of them are matched here in linear time by Go's engine, including look-aheads after a
// leading ^, as in the common ^(?!amq\.).*. Expressions beyond Go's engine, such as back-references, are matched by
// backtracking with at most MaxSteps steps.
type Pattern struct {
	source string
	want   []*regexp.Regexp // all of them must match
	refuse []*regexp.Regexp // none of them may
	slow   *program         // instead of the others
}

// Error is the reason why an expression could not be compiled: common mistakes have the words of the engine that
// RabbitMQ uses. At is an offset in bytes.
type Error struct {
	Source  string
	Message string
	At      int
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s at offset %d", e.Message, e.At) }

// Compile compiles source. The error is an *Error.
func Compile(source string) (*Pattern, error) {
	expr := widen(source)
	if re, err := regexp.Compile(expr); err == nil {
		return &Pattern{source: source, want: []*regexp.Regexp{re}}, nil
	}
	if p, ok := splitLookAheads(expr); ok {
		p.source = source
		return p, nil
	}
	tree, err := parse(expr)
	if err != nil {
		return nil, refusal(source, err)
	}
	slow, supported := newProgram(tree)
	if !supported {
		return nil, refusal(source, nil)
	}
	return &Pattern{source: source, slow: slow}, nil
}

func parse(expr string) (*syntax.RegexTree, error) {
	return syntax.Parse(expr, syntax.ParseOptions{RegexOptions: syntax.RE2})
}

// String returns the source.
func (p *Pattern) String() string { return p.source }

// Slow reports whether the expression is matched by backtracking.
func (p *Pattern) Slow() bool { return p.slow != nil }

// Match reports whether the expression is found anywhere in name. A search that takes too many steps counts as not
// found, as in RabbitMQ.
func (p *Pattern) Match(name string) bool {
	found, _ := p.Search(name)
	return found
}

// Search reports whether the expression is found in name, and whether that was decided within MaxSteps.
func (p *Pattern) Search(name string) (found, decided bool) {
	name = widen(name)
	if p.slow != nil {
		return p.slow.search(name)
	}
	for _, re := range p.want {
		if !re.MatchString(name) {
			return false, true
		}
	}
	for _, re := range p.refuse {
		if re.MatchString(name) {
			return false, true
		}
	}
	return true, true
}

// splitLookAheads turns ^(?!A)(?=B)C into: ^A must not match, ^B and ^C must.
// False if expr has another form or its parts have something that Go's engine
// cannot do.
func splitLookAheads(expr string) (*Pattern, bool) {
	rest, ok := strings.CutPrefix(expr, "^")
	if !ok {
		return nil, false
	}
	p := &Pattern{}
	for len(rest) > 3 && (rest[:3] == "(?!" || rest[:3] == "(?=") {
		end := closingParen(rest)
		if end < 0 {
			return nil, false
		}
		re, err := regexp.Compile("^(?:" + rest[3:end] + ")")
		if err != nil {
			return nil, false
		}
		if rest[2] == '!' {
			p.refuse = append(p.refuse, re)
		} else {
			p.want = append(p.want, re)
		}
		rest = rest[end+1:]
	}
	// A quantifier would repeat the last group, an alternative would stand
	// beside all of it.
	if rest != "" && strings.IndexByte("*+?{", rest[0]) >= 0 || hasAlternative(rest) {
		return nil, false
	}
	if p.want == nil && p.refuse == nil {
		return nil, false
	}
	if _, err := regexp.Compile(rest); err != nil { // like )( that the group around it would hide
		return nil, false
	}
	re, err := regexp.Compile("^(?:" + rest + ")")
	if err != nil {
		return nil, false
	}
	p.want = append(p.want, re)
	return p, true
}

// closingParen returns the index of the ) that closes the group at the start of
// expr, -1 without one.
func closingParen(expr string) int {
	depth := 0
	for i := 0; i < len(expr); i = skipAtom(expr, i) {
		switch expr[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// hasAlternative reports whether expr has a | outside of groups.
func hasAlternative(expr string) bool {
	depth := 0
	for i := 0; i < len(expr); i = skipAtom(expr, i) {
		switch expr[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

// skipAtom returns the index after the escape, the quotation \Q…\E, the character class, or the one byte at i. An
// unterminated construct ends with expr.
func skipAtom(expr string, i int) int {
	switch expr[i] {
	case '\\':
		if strings.HasPrefix(expr[i:], `\Q`) {
			if end := strings.Index(expr[i:], `\E`); end >= 0 {
				return i + end + 2
			}
			return len(expr)
		}
		return min(i+2, len(expr))
	case '[':
		return skipClass(expr, i)
	default:
		return i + 1
	}
}

// skipClass returns the index after the character class at i.
func skipClass(expr string, i int) int {
	i++
	if strings.HasPrefix(expr[i:], "^") {
		i++
	}
	for first := true; i < len(expr); first = false {
		switch {
		case expr[i] == ']' && !first:
			return i + 1
		case strings.HasPrefix(expr[i:], "[:") && strings.Contains(expr[i:], ":]"):
			i += strings.Index(expr[i:], ":]") + 2
		case expr[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	return len(expr)
}

// widen turns every byte of s into a character, because Perl's engine works on bytes and Go's on UTF-8.
func widen(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
