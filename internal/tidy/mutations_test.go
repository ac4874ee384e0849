package tidy

import (
	"fmt"
	"regexp"
	"strings"
)

// quoted is a line of .ci/equivalent that quotes the code of a mutation.
var quoted = regexp.MustCompile(`(?m)^[A-Z_]+: (.*)$`)

// checkEquivalents wants the lines of code that .ci/equivalent quotes to exist: .ci/mutate would not find others.
func checkEquivalents(h *repository) (complaints []string) {
	texts, err := h.sources()
	if err != nil {
		return []string{err.Error()}
	}
	lines := map[string]bool{}
	for name, text := range texts {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			for line := range strings.Lines(text) {
				lines[strings.TrimSpace(line)] = true
			}
		}
	}
	for _, match := range quoted.FindAllStringSubmatch(texts[".ci/equivalent"], -1) {
		if !lines[match[1]] {
			complaints = append(complaints, fmt.Sprintf(".ci/equivalent: no line of code is %q", match[1]))
		}
	}
	return complaints
}
