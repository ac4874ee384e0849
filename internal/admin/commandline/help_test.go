package commandline

import (
	"bytes"
	"strings"
	"testing"
)

func answer(plugins bool, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	p := &Program{Own: [][2]string{{"serve", "Runs the broker"}}, Plugins: plugins, Getenv: func(string) string { return "" }, Stdout: &out, Stderr: &errs}
	code = p.Run(args)
	return out.String(), errs.String(), code
}

// Help lists every verb once, in a line of its group.
func TestHelp(t *testing.T) {
	out, _, code := answer(false, "--help")
	if code != 0 {
		t.Fatal(code)
	}
	for i := range verbs {
		if n := strings.Count(out, "\n  "+verbs[i].Name+" "); n != 1 {
			t.Errorf("%s stands in %d lines", verbs[i].Name, n)
		}
	}
	for _, part := range []string{"\n  serve  ", "\nUsers and permissions\n\n  add_user  "} {
		if !strings.Contains(strings.ReplaceAll(out, "                ", ""), strings.TrimRight(part, " ")) {
			t.Errorf("no %q", part)
		}
	}
	out, _, _ = answer(true, "--help")
	if !strings.Contains(out, "\n  is_enabled ") || strings.Contains(out, "list_queues") {
		t.Errorf("plugins: %s", out)
	}
}

// A command line that cannot be understood gets at most three lines.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "No command given: candlemark help lists all\n"},
		{[]string{"frobnicate"}, "\nCommand 'frobnicate' not found. \ncandlemark help lists all commands\n"},
		{[]string{"list_queue"}, "\nCommand 'list_queue' not found. \nDid you mean 'list_queues'? \n"},
		{[]string{"stop_app"}, "\nCommand 'stop_app' not found. \nIn Candlemark: the broker cannot stop without its process: use stop\n"},
		{[]string{"--help", "reset"}, "\nCommand 'reset' not found. \nIn Candlemark: stop the broker and remove its data folder, or delete single objects\n"},
		{[]string{"--url", "http://guest:guest@127.0.0.1:1", "list_queues", "-q"}, "Error: no broker answers at http://127.0.0.1:1. Is it running? --url names another address\n"},
	} {
		if out, got, code := answer(false, c.args...); got != c.want || out != "" || code == 0 {
			t.Errorf("%v: exit %d, %q, %q", c.args, code, out, got)
		}
	}
}
