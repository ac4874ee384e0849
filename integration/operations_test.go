package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of docs/operations.md are run one after the other by a shell.
func TestOperationsPage(t *testing.T) {
	t.Parallel()
	(&foreign{name: "curl", where: "Debian's curl", probe: []string{"curl", "--version"}}).want(t)
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	b := start(t)
	dir, count := t.TempDir(), 0
	if err := os.Symlink(path, filepath.Join(dir, "candlemark")); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		command, indented := strings.CutPrefix(line, "    ")
		if !indented {
			continue
		}
		count++
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(command, "127.0.0.1:15672", b.http))
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "CANDLEMARK_HTTP_URL=http://"+b.http)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s%v\n%s", command, err, out)
		}
	}
	if count < 30 {
		t.Errorf("only %d commands were found", count)
	}
	b.ended()
}
