package filter

import "unicode/utf8"

func (v *evaluation) like(n *node) Value {
	of, pattern, escape := v.of(n.left), v.of(n.right), utf8.RuneError
	if len(n.list) > 0 {
		e := v.of(n.list[0])
		r, size := utf8.DecodeRuneInString(e.Text)
		if e.Kind != Text || size == 0 || size != len(e.Text) {
			return Value{}
		}
		escape = r
	}
	if of.Kind != Text || pattern.Kind != Text {
		return Value{}
	}
	found, ok := v.matches(of.Text, pattern.Text, escape)
	if !ok {
		return Value{}
	}
	return truth(found != n.not)
}

// matches compares a text with a pattern: % stands for any text, _ for any character, and the character after escape
// for itself. After a mismatch only the last % is extended by one character, so the steps are at most the product of
// the lengths; ok is false beyond the limit of steps.
func (v *evaluation) matches(of, pattern string, escape rune) (found, ok bool) {
	again, resume := "", -1 // pattern after the last %, and the offset where it must match
	at := 0
	rest := pattern
	for at < len(of) {
		if !v.spend(1) {
			return false, false
		}
		r, size := utf8.DecodeRuneInString(of[at:])
		c, n := utf8.DecodeRuneInString(rest)
		literal := false
		if n > 0 && c == escape && escape != utf8.RuneError && n < len(rest) {
			next, more := utf8.DecodeRuneInString(rest[n:])
			c, n, literal = next, n+more, true
		}
		switch {
		case n > 0 && c == '%' && !literal:
			rest = rest[n:]
			again, resume = rest, at
		case n > 0 && (c == '_' && !literal || c == r && n >= size && rest[n-size:n] == of[at:at+size]):
			rest, at = rest[n:], at+size
		case resume >= 0:
			_, size := utf8.DecodeRuneInString(of[resume:])
			resume += size
			rest, at = again, resume
		default:
			return false, true
		}
	}
	for len(rest) > 0 && rest[0] == '%' && escape != '%' {
		rest = rest[1:]
	}
	return rest == "", true
}
