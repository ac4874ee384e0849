package jsonencode

import "testing"

func TestAppend(t *testing.T) {
	if got := string(Append([]byte("a "), map[string]any{"<&>": []int{1}, "é\n": nil})); got != `a {"<&>":[1],"é\n":null}` {
		t.Error(got)
	}
	if got := string(Marshal("x\n")); got != `"x\n"` {
		t.Error(got)
	}
}
