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

// A wrong option is named as it was typed, with the one that was probably meant and with the usage of the command.
func TestUnknownOption(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"list_vhosts", "--fomatter", "json"}, "--fomatter; did you mean --formatter?\nArguments given:\n\tlist_vhosts --fomatter json\n\nUsage\n\ncandlemark list_vhosts "},
		{[]string{"--apply", "queues", "set_policy", "p"}, "--apply; did you mean --apply-to?\nArguments given:\n\t--apply queues set_policy p\n\nUsage\n\ncandlemark set_policy "},
		{[]string{"set_policy", "--nonsense"}, "--nonsense\nArguments given:\n\tset_policy --nonsense\n\nUsage\n\ncandlemark set_policy "},
		{[]string{"list_vhosts", "--apply", "queues"}, "--apply\nArguments given:\n\tlist_vhosts --apply queues\n\nUsage\n\ncandlemark list_vhosts "},
		{[]string{"--nonsense"}, "--nonsense\nArguments given:\n\t--nonsense\n"},
	} {
		begin := "Error (argument validation): Invalid options for this command:\nflag provided but not defined: "
		if out, got, code := answer(false, c.args...); !strings.HasPrefix(got, begin+c.want) || out != "" || code != 64 {
			t.Errorf("%v: exit %d, %q, %q", c.args, code, out, got)
		}
	}
}

// A wrong target of a move is refused without a broker, and the error says what is right.
func TestBadTarget(t *testing.T) {
	for _, to := range []string{"aside", "queue:aside", "[1]", ""} {
		if _, got, code := answer(false, "move_messages", "q", to); code != 64 || !strings.HasPrefix(got, `Error (argument validation): Bad argument: <to> must be origin, '{"queue":"a queue"}' or '{"exchange":"an exchange"}'`) {
			t.Errorf("%q: exit %d, %q", to, code, got)
		}
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
		{[]string{"server"}, "\nCommand 'server' not found. \nDid you mean 'serve'? \n"},
		{[]string{"start"}, "\nCommand 'start' not found. \nIn Candlemark: use candlemark serve\n"},
		{[]string{"declare_queue", "x"}, "\nCommand 'declare_queue' not found. \nIn Candlemark: use a client, the web pages or RabbitMQ's rabbitmqadmin\n"},
		{[]string{"stop_app"}, "\nCommand 'stop_app' not found. \nIn Candlemark: the broker cannot stop without its process: use stop\n"},
		{[]string{"--help", "resume_listeners"}, "\nCommand 'resume_listeners' not found. \nIn Candlemark: listeners cannot be suspended\n"},
		{[]string{"--url", "http://guest:guest@127.0.0.1:1", "list_queues", "-q"}, "Error: no broker answers at http://127.0.0.1:1. Is it running? --url names another address\n"},
	} {
		if out, got, code := answer(false, c.args...); got != c.want || out != "" || code == 0 {
			t.Errorf("%v: exit %d, %q, %q", c.args, code, out, got)
		}
	}
}
