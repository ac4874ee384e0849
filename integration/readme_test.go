package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"candlemark/integration/testkit/sandbox"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// The program in the README works as described, at another port.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := goBlock.FindSubmatch(text)
	if block == nil || !strings.Contains(string(block[1]), "127.0.0.1:5672") {
		t.Fatal("the README has no Go program")
	}
	b := start(t)
	dir, err := os.MkdirTemp("testdata", "readme-") // inside the module, for its dependencies
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "main.go")
	program := strings.ReplaceAll(string(block[1]), "127.0.0.1:5672", b.amqp)
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", file)
	cmd.Env = sandbox.Outside()
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "hello\n" {
		t.Errorf("%v: %s", err, out)
	}
}
