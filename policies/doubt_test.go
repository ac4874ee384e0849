package policies

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/policies/pattern"
)

// escaping is a name for which the pattern of doubtful takes too long.
var escaping = strings.Repeat("a", 200) + "!"

const doubtful = `^(a+)+(?=b)\\1$`

// Nobody escapes an operator policy by the choice of a name, however often it is
// tried, and other names are matched as before.
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
	// One of each sort has taken time, not all.
	for _, list := range s.stores {
		for i, p := range list {
			if n := p.pattern.Timeouts(); i == 0 != (n == pattern.MaxTimeouts) || i > 0 && n > 0 {
				t.Errorf("%s reached its time %d times", p.Name, n)
			}
		}
	}
}
