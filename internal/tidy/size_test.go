package tidy

import (
	"fmt"
	"go/ast"
)

const (
	softLimit     = 250 // lines of a file above which TestRepository -v mentions it
	fileLimit     = 400
	testFileLimit = 600
	functionLimit = 60

	packageLimit = 4000 // lines of a package, without tests
)

// checkPackageSize counts only code of the product: integration contains tests and their tools.
func checkPackageSize(h *repository) (complaints []string) {
	for dir, files := range h.packages() {
		if covers("integration/...", dir) {
			continue
		}
		if large := tooLarge(files); large != "" {
			complaints = append(complaints, dir+": "+large)
		}
	}
	return complaints
}

// tooLarge returns the limit that a package exceeds and by how much, or "".
func tooLarge(files []*file) string {
	lines := 0
	for _, f := range files {
		if !f.test {
			lines += f.lines
		}
	}
	if lines > packageLimit {
		return fmt.Sprintf("%d lines, at most %d", lines, packageLimit)
	}
	return ""
}

func checkFileLength(h *repository) (complaints []string) {
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
func checkFunctionLength(h *repository) (complaints []string) {
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

// lines returns how many line ends a node contains.
func (h *repository) lines(n ast.Node) int {
	return h.set.Position(n.End()).Line - h.set.Position(n.Pos()).Line
}

func (h *repository) tableLines(function *ast.FuncDecl) (lines int) {
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
