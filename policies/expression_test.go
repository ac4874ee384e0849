package policies

import (
	"errors"
	"testing"
)

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
		e, err := CompileExpression(test.source)
		if err != nil || e.Match(test.name) != test.want || e.String() != test.source {
			t.Errorf("%q in %q: %v, want %v", test.source, test.name, err, test.want)
		}
	}
	_, err := CompileExpression("a(")
	var bad *ExpressionError
	if !errors.As(err, &bad) || bad.Message != "missing )" || bad.At != 2 || err.Error() != "missing ) at offset 2" {
		t.Error(err)
	}
}
