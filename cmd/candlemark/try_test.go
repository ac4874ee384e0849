package main

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestCutTry(t *testing.T) {
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
		number, rest, ok := cutTry(c.args)
		if number != c.number || !slices.Equal(rest, c.rest) || ok != c.ok {
			t.Errorf("%q: %q, %q, %v", c.args, number, rest, ok)
		}
	}
	if code := tryCluster("4", nil); code != 64 {
		t.Errorf("an even number of nodes: exit code %d", code)
	}
	for flag, want := range map[string]int{"--nonsense": 64, "--heartbeat=x": 64, "--help": 0} { // no node is started, and started again
		if code := tryCluster("3", []string{"--data-dir", filepath.Join(t.TempDir(), "d"), flag}); code != want {
			t.Errorf("%s: exit code %d", flag, code)
		}
	}
}
