package policies

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/policies/pattern"
)

// escaping is a name for which matching the pattern doubtful exceeds the time limit.
var escaping = strings.Repeat("a", 200) + "!"

const doubtful = `^(a+)+(?=b)\\1$`

// A queue cannot evade an operator policy by its name, however often this is tried, and other names are matched as before.
func TestOperatorPolicyIsNotEscaped(t *testing.T) {
	s := NewSet("/")
	for i := range 3 {
		p, err := Parse("/", fmt.Sprint("limit", i), true, []byte(`{"pattern":"`+doubtful+`","definition":{"max-length":10}}`))
		if err != nil {
			t.Fatal(err)
		}
		s = s.With(p)
		if p, err = Parse("/", fmt.Sprint("user", i), false, []byte(`{"pattern":"`+doubtful+`","definition":{"max-length":5}}`)); err != nil {
			t.Fatal(err)
		}
		s = s.With(p)
	}
	other, err := Parse("/", "other", false, []byte(`{"pattern":"!$","definition":{"max-length":5},"priority":-1}`))
	if err != nil {
		t.Fatal(err)
	}
	s = s.With(other)
	for range 3 * pattern.MaxTimeouts {
		e := s.Effective(KindClassicQueue, escaping)
		if e.OperatorPolicy != "limit0" || e.Policy != "other" || e.Doubtful != "limit0" {
			t.Fatalf("%q and %q apply, %q is doubtful", e.OperatorPolicy, e.Policy, e.Doubtful)
		}
	}
	for _, name := range []string{"orders", "aab", "!"} {
		if e := s.Effective(KindClassicQueue, name); e.OperatorPolicy != "" || e.Doubtful != "" {
			t.Errorf("%q applies to %q, %q is doubtful", e.OperatorPolicy, name, e.Doubtful)
		}
	}
	// Only the first policy of each kind has used up its time limits.
	for _, list := range s.stores {
		for i, p := range list {
			if n := p.pattern.Timeouts(); i == 0 != (n == pattern.MaxTimeouts) || i > 0 && n > 0 {
				t.Errorf("%s reached its time %d times", p.Name, n)
			}
		}
	}
}
