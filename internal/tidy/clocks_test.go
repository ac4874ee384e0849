package tidy

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// clockTable lists every use of a clock, with its kind, the file, the expression and how often it stands there.
const clockTable = "internal/tidy/testdata/clocks.txt"

// kinds of uses. A test clock moves broker time (CLK-3) and never real time (CLK-4).
var clockKinds = []string{"broker", "real"}

// readsTime are the functions of package time that read the machine's clock.
var readsTime = []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Sleep", "Tick"}

// ofClock are the methods of clock.Clock with which a time is read, waited for or converted.
var ofClock = []string{
	"Now", "Read", "At", "Until", "Wall", "Date", "Dates", "Deadline", "Skew", "Apart", "After", "WithTimeout", "Ran", "Paused", "Look",
}

// checkClocks wants each use of a clock outside of tests in clockTable, so that whoever adds one decides whether a test clock moves it.
// Tools (cmd/candlemark-bench, integration) and the clock itself are not listed.
func checkClocks(h *repository) (complaints []string) {
	used, at := map[string]int{}, map[string]ast.Node{}
	for _, f := range h.files {
		if f.test || f.dir == "internal/measure/clock" || strings.HasPrefix(f.dir, "cmd/candlemark-bench") || strings.HasPrefix(f.dir, "integration") {
			continue
		}
		uses(f, func(n ast.Node, text string) {
			key := f.path + " " + text
			used[key]++
			at[key] = n
		})
	}
	listed, wrong := clocks(h.fsys)
	complaints = append(complaints, wrong...)
	for _, key := range slices.Sorted(maps.Keys(used)) {
		if n := listed[key]; n != used[key] {
			complaints = append(complaints, h.complain(at[key], "%s stands %d times in the file, %d in %s: add it as one of %v, see CLK-3 and CLK-4", key[strings.Index(key, " ")+1:], used[key], n, clockTable, clockKinds))
		}
	}
	for key := range listed {
		if used[key] == 0 {
			complaints = append(complaints, fmt.Sprintf("%s: %s is not used any more", clockTable, key))
		}
	}
	return complaints
}

// uses calls f for each use of a clock.
func uses(in *file, f func(n ast.Node, text string)) {
	ofPackage := in.imports(module + "/internal/measure/clock") // then the word clock alone is the package
	ast.Inspect(in.tree, func(n ast.Node) bool {
		if isCall(n, "time", readsTime...) {
			f(n, "time."+n.(*ast.SelectorExpr).Sel.Name)
			return true
		}
		s, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(ofClock, s.Sel.Name) {
			return true
		}
		switch x := s.X.(type) {
		case *ast.SelectorExpr:
			if isClock(x.Sel.Name) {
				f(n, x.Sel.Name+"."+s.Sel.Name)
			}
		case *ast.Ident:
			if isClock(x.Name) && !ofPackage || x.Name == "c" && takesClock(in.tree, n) {
				f(n, x.Name+"."+s.Sel.Name)
			}
		case *ast.CallExpr:
			if of, ok := x.Fun.(*ast.SelectorExpr); ok && (of.Sel.Name == "Real" || of.Sel.Name == "Clock") {
				f(n, of.Sel.Name+"()."+s.Sel.Name)
			}
		}
		return true
	})
}

func isClock(name string) bool { return strings.EqualFold(name, "clock") }

// takesClock reports whether n is in a function with a parameter c of type *clock.Clock.
func takesClock(tree *ast.File, n ast.Node) bool {
	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || n.Pos() < fn.Pos() || n.Pos() > fn.End() {
			continue
		}
		for _, p := range fn.Type.Params.List {
			star, ok := p.Type.(*ast.StarExpr)
			if ok && isCall(star.X, "clock", "Clock") && slices.ContainsFunc(p.Names, func(i *ast.Ident) bool { return i.Name == "c" }) {
				return true
			}
		}
	}
	return false
}

// clocks reads clockTable.
func clocks(fsys fs.FS) (listed map[string]int, complaints []string) {
	listed = map[string]int{}
	text, err := fs.ReadFile(fsys, clockTable)
	if err != nil {
		return listed, nil
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var kind, file, use string
		var n int
		if _, err := fmt.Sscan(line, &kind, &n, &file, &use); err != nil || !slices.Contains(clockKinds, kind) {
			complaints = append(complaints, fmt.Sprintf("%s: %q is not a kind of %v, a number, a file and a use", clockTable, line, clockKinds))
			continue
		}
		listed[file+" "+use] += n
	}
	return listed, complaints
}
