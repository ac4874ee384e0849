package tidy

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	unheard = regexp.MustCompile(`[^\pL\pN _-]`) // omitted in the anchor of a heading
)

// checkLinks wants the targets of links in documents to exist: the file, and after a # its heading or, in a test file, the test.
func checkLinks(h *repository) (complaints []string) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		names, err := fs.Glob(h.fsys, pattern)
		if err != nil {
			return []string{err.Error()}
		}
		for _, name := range names {
			text, err := fs.ReadFile(h.fsys, name)
			if err != nil {
				complaints = append(complaints, err.Error())
			}
			for _, found := range link.FindAllSubmatch(text, -1) {
				if target := string(found[1]); !strings.Contains(target, "://") && !h.leads(name, target) {
					complaints = append(complaints, fmt.Sprintf("%s: the link %s leads nowhere", name, target))
				}
			}
		}
	}
	return complaints
}

// leads reports whether the target of a link exists.
func (h *repository) leads(from, target string) bool {
	name, part, _ := strings.Cut(target, "#")
	if name == "" {
		name = from
	} else {
		name = path.Join(path.Dir(from), name)
	}
	switch {
	case part == "":
		_, err := fs.Stat(h.fsys, name)
		return err == nil
	case strings.HasSuffix(name, ".go"):
		return h.holds(name, part)
	}
	text, err := fs.ReadFile(h.fsys, name)
	if err != nil {
		return false
	}
	for _, found := range heading.FindAllSubmatch(text, -1) {
		words := unheard.ReplaceAllString(strings.ToLower(string(found[1])), "")
		if strings.ReplaceAll(words, " ", "-") == part {
			return true
		}
	}
	return false
}

// holds reports whether a file has a function of that name.
func (h *repository) holds(name, function string) bool {
	for _, f := range h.files {
		if f.path != name {
			continue
		}
		for _, d := range f.tree.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == function {
				return true
			}
		}
	}
	return false
}
