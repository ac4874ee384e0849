package tidy

import (
	"fmt"
	"go/ast"
)

const (
	softLimit     = 250 // lines of a file from which on TestHouse -v mentions it
	fileLimit     = 400
	testFileLimit = 600
	functionLimit = 60
)

func checkFileLength(h *house) (complaints []string) {
	for _, f := range h.files {
		limit := fileLimit
		if f.test {
			limit = testFileLimit
		}
		if f.lines > limit {
			complaints = append(complaints, fmt.Sprintf("%s: %d lines, at most %d", f.path, f.lines, limit))
		}
	}
	return complaints
}

// checkFunctionLength counts from func to the last brace. The rows of a table test do not count.
func checkFunctionLength(h *house) (complaints []string) {
	for _, f := range h.files {
		for _, declaration := range f.tree.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := h.lines(function) + 1
			if f.test {
				lines -= h.tableLines(function)
			}
			if lines > functionLimit {
				complaints = append(complaints, h.complain(function, "%s has %d lines, at most %d", function.Name, lines, functionLimit))
			}
		}
	}
	return complaints
}

// lines returns how many line ends a node holds.
func (h *house) lines(n ast.Node) int {
	return h.set.Position(n.End()).Line - h.set.Position(n.Pos()).Line
}

func (h *house) tableLines(function *ast.FuncDecl) (lines int) {
	ast.Inspect(function, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch literal.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			lines += h.lines(literal)
			return false
		}
		return true
	})
	return lines
}
