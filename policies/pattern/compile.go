package pattern

import (
	"slices"

	"github.com/dlclark/regexp2/v2/syntax"
)

// compiler makes parts from the library's syntax tree.
type compiler struct {
	groups    map[int]int // from a group's number, which may be any, to its place in search.captures
	supported bool        // no construct was found that Perl does not have
}

func (c *compiler) group(number int) int {
	place, ok := c.groups[number]
	if !ok {
		place = len(c.groups)
		c.groups[number] = place
	}
	return place
}

func (c *compiler) part(n *syntax.RegexNode) part {
	switch n.T {
	case syntax.NtConcatenate, syntax.NtGroup:
		return c.sequence(n.Children)
	case syntax.NtAlternate:
		return c.alternatives(n.Children)
	case syntax.NtLoop, syntax.NtLazyloop:
		return loop(c.part(n.Children[0]), n.M, n.N, n.T == syntax.NtLazyloop)
	case syntax.NtCapture:
		return c.capture(n)
	case syntax.NtPosLook, syntax.NtAtomic:
		return atomic(c.part(n.Children[0]), n.T == syntax.NtPosLook)
	case syntax.NtNegLook:
		return refuse(c.part(n.Children[0]))
	case syntax.NtBackRefCond, syntax.NtExprCond:
		return c.conditional(n)
	case syntax.NtRef:
		return c.reference(n)
	case syntax.NtEmpty, syntax.NtUpdateBumpalong:
		return func(s *search, at int, next next) bool { return s.step() && next(at) }
	case syntax.NtMulti:
		text, fold, backward := n.Str, folds(n), isBackward(n)
		return func(s *search, at int, next next) bool {
			to, ok := s.takeText(text, at, fold, backward)
			return s.step() && ok && next(to)
		}
	default:
		if is := assertion(n.T); is != nil {
			return func(s *search, at int, next next) bool { return s.step() && is(s, at) && next(at) }
		}
		return c.characters(n)
	}
}

func folds(n *syntax.RegexNode) bool      { return n.Options&syntax.IgnoreCase != 0 }
func isBackward(n *syntax.RegexNode) bool { return n.Options&syntax.RightToLeft != 0 }

// assertion returns the test of a part that takes no characters; nil for other parts.
func assertion(t syntax.NodeType) func(s *search, at int) bool {
	switch t {
	case syntax.NtNothing:
		return func(*search, int) bool { return false }
	case syntax.NtBol:
		return func(s *search, at int) bool { return at == 0 || s.name[at-1] == '\n' }
	case syntax.NtEol:
		return func(s *search, at int) bool { return at == len(s.name) || s.name[at] == '\n' }
	case syntax.NtBoundary:
		return func(s *search, at int) bool { return s.isWord(at-1) != s.isWord(at) }
	case syntax.NtNonboundary:
		return func(s *search, at int) bool { return s.isWord(at-1) == s.isWord(at) }
	case syntax.NtBeginning, syntax.NtStart:
		return func(_ *search, at int) bool { return at == 0 }
	case syntax.NtEndZ, syntax.NtEnd:
		return func(s *search, at int) bool { return at == len(s.name) }
	default:
		return nil
	}
}

// characters returns the part for one character of a kind, or for a repetition of such characters.
func (c *compiler) characters(n *syntax.RegexNode) part {
	ch, set, fold, backward := n.Ch, n.Set, folds(n), isBackward(n)
	one := func(r rune) bool { return same(r, ch, fold) }
	other := func(r rune) bool { return !same(r, ch, fold) }
	within := func(r rune) bool { return set.CharIn(r) }
	switch n.T {
	case syntax.NtOne:
		return single(one, backward)
	case syntax.NtNotone:
		return single(other, backward)
	case syntax.NtSet:
		return single(within, backward)
	case syntax.NtOneloop, syntax.NtOnelazy, syntax.NtOneloopatomic:
		return repetition(one, n, backward)
	case syntax.NtNotoneloop, syntax.NtNotonelazy, syntax.NtNotoneloopatomic:
		return repetition(other, n, backward)
	case syntax.NtSetloop, syntax.NtSetlazy, syntax.NtSetloopatomic:
		return repetition(within, n, backward)
	default:
		c.supported = false
		return func(*search, int, next) bool { return false }
	}
}

func single(is func(rune) bool, backward bool) part {
	return func(s *search, at int, next next) bool {
		r, to, ok := s.take(at, backward)
		return s.step() && ok && is(r) && next(to)
	}
}

// repetition matches n.M to n.N characters.
func repetition(is func(rune) bool, n *syntax.RegexNode, backward bool) part {
	least, most := n.M, n.N
	lazy := n.T == syntax.NtOnelazy || n.T == syntax.NtNotonelazy || n.T == syntax.NtSetlazy
	atomic := n.T == syntax.NtOneloopatomic || n.T == syntax.NtNotoneloopatomic || n.T == syntax.NtSetloopatomic
	direction := 1
	if backward {
		direction = -1
	}
	return func(s *search, at int, next next) bool {
		count := 0
		more := func() bool {
			r, _, ok := s.take(at+count*direction, backward)
			if !s.step() || !ok || count == most || !is(r) {
				return false
			}
			count++
			return true
		}
		for (count < least || !lazy) && more() {
		}
		if count < least {
			return false
		}
		for {
			switch {
			case next(at + count*direction):
				return true
			case s.over() || atomic:
				return false
			case lazy && !more():
				return false
			case !lazy:
				if count--; count < least || !s.step() {
					return false
				}
			}
		}
	}
}

func (c *compiler) sequence(nodes []*syntax.RegexNode) part {
	parts := make([]part, len(nodes))
	for i, n := range nodes {
		parts[i] = c.part(n)
	}
	var from func(s *search, i, at int, next next) bool
	from = func(s *search, i, at int, next next) bool {
		if i == len(parts) {
			return next(at)
		}
		return parts[i](s, at, func(to int) bool { return from(s, i+1, to, next) })
	}
	return func(s *search, at int, next next) bool { return s.step() && from(s, 0, at, next) }
}

func (c *compiler) alternatives(nodes []*syntax.RegexNode) part {
	parts := make([]part, len(nodes))
	for i, n := range nodes {
		parts[i] = c.part(n)
	}
	return func(s *search, at int, next next) bool {
		for _, p := range parts {
			if !s.step() {
				return false
			}
			if p(s, at, next) {
				return true
			}
		}
		return false
	}
}

// loop matches body least to most times. A repetition beyond least that takes no characters ends the loop.
func loop(body part, least, most int, lazy bool) part {
	var from func(s *search, count, at int, next next) bool
	from = func(s *search, count, at int, next next) bool {
		if !s.step() {
			return false
		}
		again := func() bool {
			return count < most && body(s, at, func(to int) bool {
				if to == at && count >= least {
					return next(to)
				}
				return from(s, count+1, to, next)
			})
		}
		switch {
		case count < least:
			return again()
		case lazy:
			return next(at) || again()
		default:
			return again() || !s.over() && next(at)
		}
	}
	return func(s *search, at int, next next) bool { return from(s, 0, at, next) }
}

func (c *compiler) capture(n *syntax.RegexNode) part {
	body, group := c.part(n.Children[0]), c.group(n.M)
	if n.N != -1 { // a balancing group
		c.supported = false
	}
	return func(s *search, at int, next next) bool {
		before := s.captures[group]
		if s.step() && body(s, at, func(to int) bool {
			inner := s.captures[group]
			s.captures[group] = span{min(at, to), max(at, to)}
			if next(to) {
				return true
			}
			s.captures[group] = inner
			return false
		}) {
			return true
		}
		s.captures[group] = before
		return false
	}
}

// atomic matches body in the first possible way only. A look-around stays where it is.
func atomic(body part, stay bool) part {
	return func(s *search, at int, next next) bool {
		before := slices.Clone(s.captures)
		end, found := s.once(body, at)
		if !found {
			return false
		}
		if stay {
			end = at
		}
		return s.then(before, end, next)
	}
}

// refuse matches without taking characters where body does not match.
func refuse(body part) part {
	return func(s *search, at int, next next) bool {
		before := slices.Clone(s.captures)
		_, found := s.once(body, at)
		copy(s.captures, before)
		return !found && s.step() && next(at)
	}
}

// conditional matches its second or third part, depending on whether a group has captured or the first part matches here.
func (c *compiler) conditional(n *syntax.RegexNode) part {
	group, children := 0, n.Children
	var condition part
	if n.T == syntax.NtExprCond {
		condition, children = c.part(children[0]), children[1:]
	} else {
		group = c.group(n.M)
	}
	yes, no := c.part(children[0]), c.sequence(children[1:])
	return func(s *search, at int, next next) bool {
		before := slices.Clone(s.captures)
		found := false
		if condition == nil {
			found = s.captures[group] != noSpan
		} else {
			_, found = s.once(condition, at)
		}
		chosen := no
		if found {
			chosen = yes
		}
		return s.step() && s.then(before, at, func(at int) bool { return chosen(s, at, next) })
	}
}

// reference matches the text that a group has captured; without one it does not match.
func (c *compiler) reference(n *syntax.RegexNode) part {
	group, fold, backward := c.group(n.M), folds(n), isBackward(n)
	return func(s *search, at int, next next) bool {
		captured := s.captures[group]
		if !s.step() || captured == noSpan {
			return false
		}
		to, ok := s.takeText(s.name[captured.start:captured.end], at, fold, backward)
		return ok && next(to)
	}
}
