package commandline

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"candlemark/integration/testkit/sandbox"
)

func TestMain(m *testing.M) { os.Exit(sandbox.Of(m).Run()) }

const page = "../../../docs/command-line.md"

// The page lists all verbs as the table has them.
func TestPage(t *testing.T) {
	const mark = "<!-- verbs -->\n"
	var list strings.Builder
	list.WriteString("\n| command and arguments | effect |\n| --- | --- |\n")
	for i := range verbs {
		v := &verbs[i]
		usage := strings.TrimSpace(v.Name + " " + v.Arguments)
		if v.Columns != "" {
			usage += " [<column> ...]"
		}
		list.WriteString("| `" + strings.ReplaceAll(usage, "|", `\|`) + "` | " + v.About + " |\n")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), mark)
	if len(parts) != 3 {
		t.Fatalf("%d marks", len(parts)-1)
	}
	want := parts[0] + mark + list.String() + "\n" + mark + parts[2]
	if os.Getenv("CANDLEMARK_REWRITE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s does not have the verbs of the table: run the test with CANDLEMARK_REWRITE=1", page)
	}
}

func TestCompletion(t *testing.T) {
	for shell, parts := range map[string][]string{
		"bash": {"1:*) words='serve ", " list_queues ", "\t*:delete_queue) words='--vhost --if-empty --if-unused --formatter", "complete -F _candlemark candlemark"},
		"zsh":  {"bashcompinit\n", "complete -F _candlemark candlemark"},
		"fish": {"-a list_queues -d 'Lists the queues of a virtual host'\n", "-n '__fish_seen_subcommand_from list_users' -a '--no-table-headers "},
	} {
		var out bytes.Buffer
		if !Completion(&out, shell, "serve") {
			t.Errorf("no %s", shell)
		}
		for _, part := range parts {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s without %q", shell, part)
			}
		}
	}
	if Completion(&bytes.Buffer{}, "csh") {
		t.Error("csh")
	}
}

// Bash takes the script and completes with it.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	var script bytes.Buffer
	Completion(&script, "bash", "serve")
	script.WriteString("COMP_WORDS=(candlemark list_qu); COMP_CWORD=1; _candlemark; echo \"${COMPREPLY[*]}\"\n")
	script.WriteString("COMP_WORDS=(candlemark delete_queue q --if-e); COMP_CWORD=3; _candlemark; echo \"${COMPREPLY[*]}\"\n")
	script.WriteString("COMP_WORDS=(candlemark list_queues messages_r); COMP_CWORD=2; _candlemark; echo \"${COMPREPLY[*]}\"\n")
	cmd := exec.Command(bash, "--norc", "--noprofile")
	cmd.Stdin = &script
	out, err := cmd.CombinedOutput()
	if want := "list_queues\n--if-empty\nmessages_ready messages_ready_ram messages_ram\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, not %q", err, out, want)
	}
}
