package policies

import (
	"fmt"
	"strings"
	"testing"
)

// escaping is a name for which matching the pattern doubtful exceeds the limit of steps.
var escaping = strings.Repeat("a", 200) + "!"

const doubtful = `^(a+)+(?=b)\\1$`

// A queue cannot evade an operator policy by its name, even in many attempts, and other names are matched as before.
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
	for range 3 {
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
}
