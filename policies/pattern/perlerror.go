package pattern

import (
	"strconv"
	"strings"
)

// perlError finds the first error in expr that the Perl-compatible engine would
// report, with its message and the offset it gives. "" if it finds none, which
// does not mean that there is none: it knows the mistakes people make, in
// brackets, groups, quantifiers and escapes.
func perlError(expr string) (message string, at int) {
	s := perlScan{expr: expr}
	for s.i < len(expr) && message == "" {
		message, at = s.step()
	}
	if message == "" && s.depth > 0 {
		return "missing )", len(expr)
	}
	return message, at
}

// perlScan walks over an expression. repeatable: a quantifier may follow.
type perlScan struct {
	expr       string
	i, depth   int
	repeatable bool
}

func (s *perlScan) step() (message string, at int) {
	switch s.expr[s.i] {
	case '\\':
		if s.i+1 == len(s.expr) {
			return `\ at end of pattern`, len(s.expr)
		}
		// Anchors cannot be repeated.
		s.i, s.repeatable = skipAtom(s.expr, s.i), strings.IndexByte("bBAzZG", s.expr[s.i+1]) < 0
	case '[':
		s.i, message, at = scanClass(s.expr, s.i)
		s.repeatable = true
	case '(':
		return s.open()
	case ')':
		if s.depth == 0 {
			return "unmatched parentheses", s.i
		}
		s.depth--
		s.i, s.repeatable = s.i+1, true
	case '*', '+', '?':
		if !s.repeatable {
			return "nothing to repeat", s.i
		}
		s.i++
		s.modifier()
	case '{':
		return s.braces()
	case '|', '^', '$':
		s.i, s.repeatable = s.i+1, false
	default:
		s.i, s.repeatable = s.i+1, true
	}
	return message, at
}

// modifier skips the ? or + that makes a quantifier lazy or possessive.
func (s *perlScan) modifier() {
	if s.i < len(s.expr) && (s.expr[s.i] == '?' || s.expr[s.i] == '+') {
		s.i++
	}
	s.repeatable = false
}

// open reads what follows an opening parenthesis up to the group's content.
func (s *perlScan) open() (message string, at int) {
	rest := s.expr[s.i:]
	if strings.HasPrefix(rest, "(?#") {
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return "missing ) after comment", len(s.expr)
		}
		s.i += end + 1
		return "", 0
	}
	s.i, s.repeatable = s.i+1, false
	if strings.HasPrefix(rest, "(*") {
		return "", 0 // a verb, or a star with nothing before it, which step sees
	}
	s.depth++
	if !strings.HasPrefix(rest, "(?") {
		return "", 0
	}
	s.i++
	return s.group()
}

// group reads what follows "(?".
func (s *perlScan) group() (message string, at int) {
	const unrecognized = "unrecognized character after (? or (?-"
	rest := s.expr[s.i:]
	for _, prefix := range [...]string{":", "=", "!", ">", "|", "<=", "<!"} {
		if strings.HasPrefix(rest, prefix) {
			s.i += len(prefix)
			return "", 0
		}
	}
	for _, quotes := range [...][2]string{{"P<", ">"}, {"<", ">"}, {"'", "'"}} {
		prefix, end := quotes[0], quotes[1]
		if name, ok := strings.CutPrefix(rest, prefix); ok {
			n := strings.IndexFunc(name, func(r rune) bool { return !isWord(r) })
			if n < 0 || name[n:n+1] != end {
				return "syntax error in subpattern name (missing terminator)", s.i + len(prefix) + wordLength(name)
			}
			s.i += len(prefix) + n + 1
			return "", 0
		}
	}
	if rest != "" && strings.IndexByte("PR&(C0123456789+", rest[0]) >= 0 {
		s.i++
		return "", 0 // conditions, recursion: left to the engines
	}
	for n := range len(rest) {
		switch {
		case rest[n] == ':' || rest[n] == ')':
			if rest[n] == ')' {
				s.depth--
			}
			s.i += n + 1
			return "", 0
		case strings.IndexByte("imsxUXJ-", rest[n]) < 0:
			return unrecognized, s.i + n
		}
	}
	return unrecognized, len(s.expr)
}

// braces reads {n}, {n,} or {n,m}; any other brace is a character.
func (s *perlScan) braces() (message string, at int) {
	end := strings.IndexByte(s.expr[s.i:], '}')
	low, high, ok := 0, 0, false
	if end > 0 {
		low, high, ok = bounds(s.expr[s.i+1 : s.i+end])
	}
	if !ok {
		s.i, s.repeatable = s.i+1, true
		return "", 0
	}
	end += s.i
	switch {
	case low > 65535 || high > 65535:
		return "number too big in {} quantifier", end
	case high < low:
		return "numbers out of order in {} quantifier", end
	case !s.repeatable:
		return "nothing to repeat", end
	}
	s.i = end + 1
	s.modifier()
	return "", 0
}

// bounds reads the inside of {n}, {n,}, {n,m}.
func bounds(inside string) (low, high int, ok bool) {
	first, second, two := strings.Cut(inside, ",")
	low, ok = repetition(first)
	switch {
	case !ok || !two:
		return low, low, ok
	case second == "":
		return low, max(low, 65535), true
	}
	high, ok = repetition(second)
	return low, high, ok
}

// repetition reads an unsigned number; one too big for a quantifier is given as
// 65536.
func repetition(digits string) (int, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		n = 65536
	}
	return min(n, 65536), true
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func wordLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) })
	if n < 0 {
		return len(s)
	}
	return n
}
