package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "candlemark"

// rules are all repository rules; each returns one line per violation, which begins with the place.
var rules = []struct {
	name  string
	check func(*repository) []string
}{
	{"imports", checkImports},
	{"actor library", checkActorLibrary},
	{"top level", checkTopLevel},
	{"package names", checkPackageNames},
	{"doc.go", checkDocFile},
	{"decision records", checkDecisions},
	{"links", checkLinks},
	{"file length", checkFileLength},
	{"function length", checkFunctionLength},
	{"package size", checkPackageSize},
	{"objects", checkObjects},
	{"doc comments", checkDocComments},
	{"leftover notes", checkNotes},
	{"sleep", checkSleep},
	{"clocks", checkClocks},
	{"leak checks", checkLeaks},
	{"sandboxes", checkSandboxes},
	{"exits", checkExits},
	{"proofs", checkProofs},
	{"citations", checkCitations},
	{"retired words", checkRetiredWords},
	{"clauses", checkClauses},
	{"comments", checkComments},
	{"dangling words", checkDangling},
	{"equivalent mutations", checkEquivalents},
}

func TestRepository(t *testing.T) {
	h, err := open(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		t.Run(strings.ReplaceAll(rule.name, " ", "-"), func(t *testing.T) {
			for _, complaint := range rule.check(h) {
				t.Error(complaint)
			}
		})
	}
	for _, f := range h.files {
		if f.lines > softLimit && !f.test {
			t.Logf("%s: %d lines; past %d, see whether it has two subjects", f.path, f.lines, softLimit)
		}
	}
}

// file is one parsed Go file that is not generated.
type file struct {
	path  string // from the root, with slashes
	dir   string // its folder, "." for the root
	test  bool
	lines int
	tree  *ast.File
}

// repository is the repository as the rules see it.
type repository struct {
	fsys  fs.FS
	set   *token.FileSet
	files []*file
	top   []string // entries of the root; folders end in a slash
}

// open parses all Go files under the root, without hidden folders, testdata and build output.
func open(fsys fs.FS) (*repository, error) {
	h := &repository{fsys: fsys, set: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil || name == ".":
			return err
		case strings.HasPrefix(base, ".") || base == "testdata" || name == "bin":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.Contains(name, "/") {
			h.top = append(h.top, name+map[bool]string{true: "/"}[entry.IsDir()])
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		return h.parse(name)
	})
	return h, err
}

func (h *repository) parse(name string) error {
	source, err := fs.ReadFile(h.fsys, name)
	if err != nil {
		return err
	}
	tree, err := parser.ParseFile(h.set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if !ast.IsGenerated(tree) {
		h.files = append(h.files, &file{
			path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			lines: strings.Count(string(source), "\n"), tree: tree,
		})
	}
	return nil
}

// packages returns the files by folder.
func (h *repository) packages() map[string][]*file {
	all := make(map[string][]*file)
	for _, f := range h.files {
		all[f.dir] = append(all[f.dir], f)
	}
	return all
}

func (h *repository) complain(at ast.Node, format string, args ...any) string {
	p := h.set.Position(at.Pos())
	return fmt.Sprintf("%s:%d: ", p.Filename, p.Line) + fmt.Sprintf(format, args...)
}

// imports reports whether the file imports the path.
func (f *file) imports(want string) bool {
	return slices.ContainsFunc(f.tree.Imports, func(i *ast.ImportSpec) bool { return imported(i) == want })
}

func imported(i *ast.ImportSpec) string { return strings.Trim(i.Path.Value, `"`) }

// isCall reports whether n is a mention of the function, such as time.Sleep.
func isCall(n ast.Node, pkg string, functions ...string) bool {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := selector.X.(*ast.Ident)
	return ok && x.Name == pkg && slices.Contains(functions, selector.Sel.Name)
}
