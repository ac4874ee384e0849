package tidy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// topLevel are the visible files and folders of the root; further ones need a decision record.
var topLevel = []string{
	"actors/", "cmd/", "docs/", "integration/", "internal/", "policies/", "protocol/", "supervision/",
	"CHANGELOG.md", "LICENSE", "README.md", "Taskfile.yml", "go.mod", "go.sum", "tools.mod", "tools.sum",
}

// drawers are package names that do not describe the contents.
var drawers = []string{
	"base", "common", "helper", "helpers", "interfaces", "misc", "models", "shared", "types", "util", "utils",
}

// built matches output of builds, as .gitignore does.
var built = regexp.MustCompile(`\.(test|out|prof)$`)

func checkTopLevel(h *repository) (complaints []string) {
	for _, name := range h.top {
		if !slices.Contains(topLevel, name) && !built.MatchString(name) {
			complaints = append(complaints, name+": not one of the top-level files and folders")
		}
	}
	return complaints
}

func checkPackageNames(h *repository) (complaints []string) {
	for dir, files := range h.packages() {
		for _, part := range strings.Split(dir, "/") {
			if slices.Contains(drawers, part) {
				complaints = append(complaints, fmt.Sprintf("%s: %q is a drawer, not a room", dir, part))
			}
		}
		name := strings.TrimSuffix(files[0].tree.Name.Name, "_test")
		if name != path.Base(dir) && name != "main" {
			complaints = append(complaints, fmt.Sprintf("%s: holds package %s", dir, name))
		}
	}
	return complaints
}

const docLimit = 60

// checkDocFile wants a doc.go with the package comment in every package, and no other package comment.
func checkDocFile(h *repository) (complaints []string) {
	for dir, files := range h.packages() {
		found := false
		for _, f := range files {
			doc := f.tree.Doc
			switch {
			case path.Base(f.path) != "doc.go":
				if doc != nil {
					complaints = append(complaints, h.complain(doc, "the package comment belongs in doc.go"))
				}
			case doc == nil || len(doc.Text()) == 0:
				complaints = append(complaints, f.path+": no package comment")
			case f.lines > docLimit:
				complaints = append(complaints, fmt.Sprintf("%s: %d lines, at most %d", f.path, f.lines, docLimit))
			}
			found = found || path.Base(f.path) == "doc.go"
		}
		if !found {
			complaints = append(complaints, dir+": no doc.go")
		}
	}
	return complaints
}

const decisionLimit = 80

var decisionName = regexp.MustCompile(`^docs/adr/\d{4}-[a-z0-9-]+\.md$`)

func checkDecisions(h *repository) (complaints []string) {
	names, err := fs.Glob(h.fsys, "docs/adr/*")
	if err != nil {
		return []string{err.Error()}
	}
	numbers := map[string]bool{}
	for _, name := range names {
		if m := recordName.FindStringSubmatch(name); m != nil {
			if numbers[m[1]] {
				complaints = append(complaints, fmt.Sprintf("%s: %s is another decision's number", name, m[1]))
			}
			numbers[m[1]] = true
		}
		text, err := fs.ReadFile(h.fsys, name)
		switch lines := strings.Count(string(text), "\n"); {
		case err != nil:
			complaints = append(complaints, err.Error())
		case !decisionName.MatchString(name):
			complaints = append(complaints, name+": decision records are called NNNN-title.md")
		case lines > decisionLimit:
			complaints = append(complaints, fmt.Sprintf("%s: %d lines, at most %d", name, lines, decisionLimit))
		}
	}
	return complaints
}
