package pattern

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
)

func TestPatternMatch(t *testing.T) {
	tests := []struct {
		name, pattern, object string
		want                  bool
	}{
		{"POL-2 unanchored", "orders", "my-orders-x", true},
		{"POL-2 anchored", "^orders", "my-orders-x", false},
		{"POL-2 empty pattern", "", "anything", true},
		{"POL-2 look-ahead refuses", `^(?!amq\.).*`, "amq.gen-1", false},
		{"POL-2 look-ahead accepts", `^(?!amq\.).*`, "orders", true},
		{"POL-2 look-ahead accepts the empty name", `^(?!amq\.).*`, "", true},
		{"POL-2 look-ahead with alternatives", `^(?!amq\.|temp-).+$`, "temp-1", false},
		{"POL-2 two look-aheads", `^(?!a)(?=.*z$)b`, "b-z", true},
		{"POL-2 two look-aheads, second fails", `^(?!a)(?=.*z$)b`, "b-y", false},
		{"POL-2 look-ahead with parentheses in class and quotation", `^(?![)(]|\Q)\E).`, ")x", false},
		{"POL-2 alternative beside a look-ahead", `^(?!a)b|c`, "ac", true},
		{"POL-2 alternative in a group behind a look-ahead", `^(?!a)(b|c)`, "ac", false},
		{"POL-2 look-ahead inside", `^x(?!y)`, "xz", true},
		{"POL-2 look-ahead inside refuses", `^x(?!y)`, "xy", false},
		{"POL-2 tempered dot", `^(?:(?!dead).)*$`, "my-dead-queue", false},
		{"POL-2 look-behind", `(?<!dead)\.q$`, "dead.q", false},
		{"POL-2 look-behind accepts", `(?<!dead)\.q$`, "live.q", true},
		{"POL-2 back-reference", `^(a+)-\1$`, "aa-aa", true},
		{"POL-2 back-reference refuses", `^(a+)-\1$`, "aa-a", false},
		{"POL-2 possessive", `^a++b`, "aab", true},
		{"POL-2 atomic", `^(?>a+)ab`, "aaab", false},
		{"POL-2 repeats over 1000", `^a{1,2000}$`, "aaa", true},
		{"POL-2 bytes", `^.{2}$`, "é", true},
		{"POL-2 bytes with look-ahead", `^(?!é)..$`, "ü", true},
		{"POL-2 bytes with look-ahead refuses", `^(?!é)..$`, "é", false},
		{"POL-2 case", `(?i)^ORDERS$`, "orders", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := Compile(test.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Match(test.object); got != test.want {
				t.Errorf("%s on %q: %v", test.pattern, test.object, got)
			}
		})
	}
}

func TestExpression(t *testing.T) {
	for _, test := range []struct {
		source, name string
		want         bool
	}{
		{"", "anything", true},
		{"^$", "", true},
		{"^$", "q", false},
		{"b", "abc", true},
		{`^(?!amq\.).*`, "amq.topic", false},
		{`^(?!amq\.).*`, "orders", true},
		{`(\w)\1`, "free", true},
	} {
		e, err := Compile(test.source)
		if err != nil || e.Match(test.name) != test.want || e.String() != test.source {
			t.Errorf("%q in %q: %v, want %v", test.source, test.name, err, test.want)
		}
	}
	_, err := Compile("a(")
	var bad *Error
	if !errors.As(err, &bad) || bad.Message != "missing )" || bad.At != 2 || err.Error() != "missing ) at offset 2" {
		t.Error(err)
	}
}

// Widely used patterns with a look-ahead do not need the backtracking engine and its limit of steps.
func TestPatternLinear(t *testing.T) {
	for _, expr := range []string{`^(?!amq\.).*`, `^(?!amq\.|x).+`, `^(?=a)b`, "^orders", "^(?!é)."} {
		if p, err := Compile(expr); err != nil || p.Slow() {
			t.Errorf("POL-2 %s needs the backtracking engine %v", expr, err)
		}
	}
}

// TestPatternStepLimit: the verdict on a name depends on a number of steps and on nothing else.
func TestPatternStepLimit(t *testing.T) {
	for _, expr := range []string{`^(?:(?!x)(a+)+)+\1$`, `(?:(?=a)){1000000}b`, `(?:(?=a)a*?a*?a*?)+b`} {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		if found, decided := p.Search(strings.Repeat("a", 200) + "!"); found || decided {
			t.Errorf("POL-2 %s: found %v, decided %v", expr, found, decided)
		}
		if _, decided := p.Search("b"); !decided {
			t.Errorf("POL-2 %s: a short name is not decided", expr)
		}
	}
}

// TestPatternBacktracks compares with the engine of the library that parses the expressions.
func TestPatternBacktracks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		"a", "b", "ab", ".", "[ab]", "[^a]", `\w`, `\b`, `\B`, "^", "$", "|", "|", "(", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", ")", ")", ")",
		"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}?", `\1`, `\2`, "(?i)", "(?i:A", "(?(1)a|b)", "(?(?=a)b|a)", "(?m)", "(?<n>a)", `\k<n>`,
	}
	compared := 0
	for range 20_000 {
		expr := ""
		for range 1 + random.IntN(8) {
			expr += pieces[random.IntN(len(pieces))]
		}
		library, err := regexp2.Compile(expr, regexp2.RE2)
		if err != nil {
			continue
		}
		tree, err := parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		p, supported := newProgram(tree)
		if !supported {
			t.Fatalf("%s is not supported", expr)
		}
		for range 20 {
			name := ""
			for range random.IntN(7) {
				name += []string{"a", "b", "A", "-", "\n"}[random.IntN(5)]
			}
			want, err := library.MatchString(name)
			if found, decided := p.search(name); err != nil || decided && found != want {
				t.Errorf("%q in %q: found %v, want %v, %v", expr, name, found, want, err)
			}
			compared++
		}
	}
	if compared < 20_000 {
		t.Errorf("%d names were compared", compared)
	}
}

// The messages and offsets were measured with RabbitMQ's engine.
func TestPatternErrors(t *testing.T) {
	tests := []struct {
		pattern, message string
		at               int
	}{
		{`(`, "missing )", 1},
		{`(abc`, "missing )", 4},
		{`(()`, "missing )", 3},
		{`^(?!amq\.`, "missing )", 9},
		{`(?<!`, "missing )", 4},
		{`)`, "unmatched parentheses", 0},
		{`^)-(`, "unmatched parentheses", 1},
		{`^(?!amq\.)$)(`, "unmatched parentheses", 11},
		{`[`, "missing terminating ] for character class", 1},
		{`[abcd`, "missing terminating ] for character class", 5},
		{`[]a`, "missing terminating ] for character class", 3},
		{`[z-a]`, "range out of order in character class", 3},
		{`*`, "nothing to repeat", 0},
		{`a|*`, "nothing to repeat", 2},
		{`(*)`, "nothing to repeat", 1},
		{`a**`, "nothing to repeat", 2},
		{`a{3,2}`, "numbers out of order in {} quantifier", 5},
		{`a{37,17}`, "numbers out of order in {} quantifier", 7},
		{`abc\`, `\ at end of pattern`, 4},
		{`[a\`, "missing terminating ] for character class", 3},
		{`(a)\2`, "reference to non-existent subpattern", 5},
		{`é)`, "unmatched parentheses", 2},
		{strings.Repeat("a", maxPlaced-1) + "(?!)**", "nothing to repeat", maxPlaced + 5},
		{`(?z)abc`, "not supported by this broker", 7},
		{`(?|a)`, "not supported by this broker", 5},
	}
	for _, test := range tests {
		t.Run("POL-14 "+test.pattern, func(t *testing.T) {
			_, err := Compile(test.pattern)
			if bad := (*Error)(nil); !errors.As(err, &bad) || *bad != (Error{test.pattern, test.message, test.at}) {
				t.Errorf("%v, want %s at offset %d", err, test.message, test.at)
			}
		})
	}
}

// An error is found after valid parts that look like errors.
func TestPatternErrorsBehindValidParts(t *testing.T) {
	for _, prefix := range []string{
		`\Q(*[\E`, `[()*]`, `[]()]`, `[^]*(]`, `[[:alpha:](]`, `[a-z\]-]`, `[\d-a(]`, `(?#(*[)`, `(?i)`, `(?i:a)`, `(?P<n>a)`, `(?'n'a)`,
		`(?>a)`, `a{`, `a{,2}`, `a{1,}?`, `a{1}+`, `a*?`, `a++`, `a{x}`, `\(`, `}`, `]`,
	} {
		if _, err := Compile("(?<!x)" + prefix); err != nil {
			t.Errorf("POL-14 %s: %v", prefix, err)
		}
		_, err := Compile(prefix + ")")
		if bad := (*Error)(nil); !errors.As(err, &bad) || *bad != (Error{prefix + ")", "unmatched parentheses", len(prefix)}) {
			t.Errorf("POL-14 %s): %v", prefix, err)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, seed := range []string{`^(?!amq\.).*`, `[z-a]`, `(?P<n>a{2,3}+)`, `\Q`, `[[:alpha:]\`, "(?(1)é|b)"} {
		f.Add(seed, "amq.gen-é")
	}
	f.Fuzz(func(t *testing.T, expr, name string) {
		p, err := Compile(expr)
		if (p == nil) == (err == nil) {
			t.Fatalf("pattern %v, failure %v", p, err)
		}
		if p != nil && len(name) < 20 {
			p.Match(name)
		}
	})
}
