package pattern

import (
	"slices"
	"unicode"

	"github.com/dlclark/regexp2/v2/syntax"
)

// MaxSteps is the maximum number of steps of one search by backtracking, for all start positions together, as in RabbitMQ
// (POL-2). A step is one visit of a part of the expression at one position. The library that parses these expressions has
// an engine of its own, which can be limited in time only: whether a policy applies would depend on the machine's load
// (ADR 124).
const MaxSteps = 50_000

// A search is one search in a name.
type search struct {
	name     []rune
	steps    int
	captures []span
}

// span is the part of the name that a group has captured; end is -1 without one.
type span struct{ start, end int }

var noSpan = span{0, -1}

// A next tries the rest of the expression at a position and reports whether it matches.
type next func(at int) bool

// A part matches one part of an expression at a position and then calls next, for every way in which it can match until
// next reports true. Captured groups are as before if the part reports false.
type part func(s *search, at int, next next) bool

// program is an expression compiled for backtracking.
type program struct {
	root     part
	captures int
}

func newProgram(tree *syntax.RegexTree) (*program, bool) {
	c := compiler{groups: map[int]int{}, supported: true}
	root := c.part(tree.Root)
	return &program{root: root, captures: len(c.groups)}, c.supported
}

// search reports whether the expression is found in name, and whether that was decided within MaxSteps.
func (p *program) search(name string) (found, decided bool) {
	s := &search{name: []rune(name), captures: slices.Repeat([]span{noSpan}, p.captures)}
	for at := 0; at <= len(s.name) && !s.over(); at++ {
		if p.root(s, at, func(int) bool { return true }) && !s.over() {
			return true, true
		}
	}
	return false, !s.over()
}

func (s *search) over() bool { return s.steps > MaxSteps }

func (s *search) step() bool {
	s.steps++
	return !s.over()
}

// once matches p in the first possible way only and returns where that ends. The captured groups are kept.
func (s *search) once(p part, at int) (end int, found bool) {
	found = p(s, at, func(to int) bool { end = to; return true })
	return end, found && !s.over()
}

// then calls next and restores the captured groups if it reports false.
func (s *search) then(captures []span, at int, next next) bool {
	if next(at) {
		return true
	}
	copy(s.captures, captures)
	return false
}

func (s *search) isWord(at int) bool {
	return at >= 0 && at < len(s.name) && syntax.IsWordChar(s.name[at])
}

// take returns the character that stands at the position in the direction of reading, and the position behind it.
func (s *search) take(at int, backward bool) (r rune, to int, ok bool) {
	if backward {
		at--
	}
	if at < 0 || at >= len(s.name) {
		return 0, 0, false
	}
	if backward {
		return s.name[at], at, true
	}
	return s.name[at], at + 1, true
}

// takeText matches a text in the direction of reading.
func (s *search) takeText(text []rune, at int, fold, backward bool) (to int, ok bool) {
	start, to := at, at+len(text)
	if backward {
		start, to = at-len(text), at-len(text)
	}
	if start < 0 || start+len(text) > len(s.name) {
		return 0, false
	}
	for i, r := range text {
		if !same(s.name[start+i], r, fold) {
			return 0, false
		}
	}
	return to, true
}

func same(a, b rune, fold bool) bool {
	return a == b || fold && unicode.ToLower(a) == unicode.ToLower(b)
}
