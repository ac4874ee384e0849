package integration

import (
	"os"
	"strings"
	"testing"
)

// The broker's trace of a message is the one shown in docs/ARCHITECTURE.md.
func TestArchitectureShowsTheTrace(t *testing.T) {
	golden, err := os.ReadFile("testdata/trace/publish.golden")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := "    " + strings.ReplaceAll(strings.TrimSpace(string(golden)), "\n", "\n    ")
	if !strings.Contains(string(page), shown) {
		t.Errorf("docs/ARCHITECTURE.md does not show\n%s", shown)
	}
}
