package integration

import (
	"os"
	"strings"
	"testing"
)

// The walk in docs/ARCHITECTURE.md is the one that the broker takes.
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
