package tidy

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// objectLimit is the maximum size of an object: all functions that work on its fields have to be read to change one.
const objectLimit = 60

// An object is a type with its methods.
type object struct {
	methods   int      // of the type itself
	functions int      // of its package that take the type as a parameter
	embedded  []string // types of the repository whose methods the type promotes
}

// objects returns the types of the product by folder and name, such as actors/queue.state.
func (h *repository) objects() map[string]*object {
	all := map[string]*object{}
	of := func(name string) *object {
		if all[name] == nil {
			all[name] = &object{}
		}
		return all[name]
	}
	declared := map[string]bool{}
	for _, f := range h.files {
		if f.test || covers("integration/...", f.dir) {
			continue
		}
		for _, declaration := range f.tree.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				for _, name := range f.parameterTypes(d) {
					of(name).functions++
				}
				if d.Recv != nil {
					of(f.typeName(d.Recv.List[0].Type)).methods++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						name := f.dir + "." + t.Name.Name
						declared[name] = true
						of(name).embedded = f.embeddedTypes(t)
					}
				}
			}
		}
	}
	for name := range all {
		if !declared[name] {
			delete(all, name)
		}
	}
	return all
}

// parameterTypes returns the types of the file's own package that a function takes, each once.
func (f *file) parameterTypes(d *ast.FuncDecl) (names []string) {
	for _, field := range d.Type.Params.List {
		name := f.typeName(field.Type)
		own := d.Recv != nil && name == f.typeName(d.Recv.List[0].Type) // already counted as a method
		if strings.HasPrefix(name, f.dir+".") && !own && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (f *file) embeddedTypes(t *ast.TypeSpec) (names []string) {
	structure, ok := t.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, field := range structure.Fields.List {
		if name := f.typeName(field.Type); len(field.Names) == 0 && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// typeName returns the folder and name of a type or of the type that it points to, "" for types from outside the
// repository.
func (f *file) typeName(expr ast.Expr) string {
	switch x := expr.(type) {
	case *ast.StarExpr:
		return f.typeName(x.X)
	case *ast.IndexExpr:
		return f.typeName(x.X)
	case *ast.IndexListExpr:
		return f.typeName(x.X)
	case *ast.Ident:
		return f.dir + "." + x.Name
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		if !ok {
			return ""
		}
		for _, i := range f.tree.Imports {
			folder, inside := strings.CutPrefix(imported(i), module+"/")
			if inside && (i.Name != nil && i.Name.Name == pkg.Name || i.Name == nil && path.Base(folder) == pkg.Name) {
				return folder + "." + x.Sel.Name
			}
		}
	}
	return ""
}

// size counts the object's methods, the functions of its package that take it, and the same of the types that it embeds.
func size(all map[string]*object, name string) int {
	o := all[name]
	if o == nil {
		return 0
	}
	n := o.methods + o.functions
	for _, e := range o.embedded {
		n += size(all, e)
	}
	return n
}

func checkObjects(h *repository) (complaints []string) {
	all := h.objects()
	for name := range all {
		if n := size(all, name); n > objectLimit {
			complaints = append(complaints, fmt.Sprintf("%s: %d functions work on it, at most %d", name, n, objectLimit))
		}
	}
	return complaints
}

// TestObjects prints the largest objects with -v.
func TestObjects(t *testing.T) {
	h, err := open(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	all := h.objects()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return size(all, b) - size(all, a) })
	for _, name := range names[:20] {
		t.Logf("%4d %s: %d methods, %d functions, embeds %v", size(all, name), name, all[name].methods, all[name].functions, all[name].embedded)
	}
}
