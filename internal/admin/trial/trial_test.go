package trial

import (
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args   []string
		number string
		rest   []string
		ok     bool
	}{
		{[]string{"--cluster-try", "3", "--data-dir", "x"}, "3", []string{"--data-dir", "x"}, true},
		{[]string{"--heartbeat=5", "-cluster-try=5"}, "5", []string{"--heartbeat=5"}, true},
		{[]string{"--cluster-try"}, "", []string{}, true},
		{[]string{"--data-dir", "cluster-try"}, "", []string{"--data-dir", "cluster-try"}, false},
	} {
		number, rest, ok := Cut(c.args)
		if number != c.number || !slices.Equal(rest, c.rest) || ok != c.ok {
			t.Errorf("%q: %q, %q, %v", c.args, number, rest, ok)
		}
	}
	served := 0
	serve := func([]string) int {
		served++
		return 64
	}
	if code := Run("4", nil, serve); code != 64 {
		t.Errorf("an even number of nodes: exit code %d", code)
	}
	for _, flag := range []string{"--nonsense", "--heartbeat=x", "--help"} { // no node is started, and started again
		if code := Run("3", []string{"--data-dir", filepath.Join(t.TempDir(), "d"), flag}, serve); code != 64 {
			t.Errorf("%s: exit code %d", flag, code)
		}
	}
	if served != 3 {
		t.Errorf("%d were left to serve", served)
	}
}
