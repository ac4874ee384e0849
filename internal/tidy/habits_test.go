package tidy

import (
	"fmt"
	"go/ast"
	"strings"
)

// checkSleep: sleeping is not waiting. In tests time.Sleep may only move the virtual time of a synctest bubble; an
// actor never sleeps, because it would block a worker that other actors share.
func checkSleep(h *repository) (complaints []string) {
	for _, f := range h.files {
		bubble := f.imports("testing/synctest")
		if f.test && bubble || !f.test && !strings.HasPrefix(f.dir, "actors/") {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if isCall(n, "time", "Sleep") {
				complaints = append(complaints, h.complain(n, "time.Sleep outside a synctest bubble; wait for what you wait for"))
			}
			return true
		})
	}
	return complaints
}

// checkLeaks wants goleak in every package that starts goroutines outside its tests. The tests that use testkit check
// for its goroutines.
func checkLeaks(h *repository) (complaints []string) {
	for dir, files := range h.packages() {
		starts, checked := false, false
		for _, f := range files {
			checked = checked || f.test && f.imports("go.uber.org/goleak")
			if f.test || f.tree.Name.Name == "main" || f.dir == "integration/testkit" {
				continue
			}
			ast.Inspect(f.tree, func(n ast.Node) bool {
				_, ok := n.(*ast.GoStmt)
				starts = starts || ok
				return true
			})
		}
		if starts && !checked {
			complaints = append(complaints, fmt.Sprintf("%s: starts goroutines; its TestMain wants goleak", dir))
		}
	}
	return complaints
}

// checkSandboxes wants testkit/sandbox in every package whose tests start programs or run the command line, which would
// otherwise find the user's own data folder.
func checkSandboxes(h *repository) (complaints []string) {
	for dir, files := range h.packages() {
		starts, kept := false, false
		for _, f := range files {
			starts = starts || f.test && (f.imports("os/exec") || f.tree.Name.Name == "main" && strings.HasPrefix(dir, "cmd/"))
			kept = kept || f.test && f.imports(module+"/integration/testkit/sandbox")
		}
		if starts && !kept {
			complaints = append(complaints, fmt.Sprintf("%s: its tests start programs; its TestMain wants integration/testkit/sandbox", dir))
		}
	}
	return complaints
}
