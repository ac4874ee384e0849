package tidy

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// retired matches words of our own for which standard terms exist: a dead letter, a job, a timeout, an index, an
// interface, a map.
var retired = regexp.MustCompile(`(?i:\b(?:bury|buries|buried|hearse|errands?|afterthoughts?|parcels?|agenda|watchman|spoilt|oust\w*|waning|` +
	`loans?|lends?|lending|lent|deeds?|doomed|dying|doors?|ledgers?|graves?|graveyard|goodbye|tellers?|untold|foretold|vandals?|besieg\w*)\b|` +
	`mourn\w*|bequeath\w*)|\B(?:Door|Agenda|Loan|Parcel|Errand|Ledger|Bury|Dying|Told)s?\b`)

// bound is a name of an upper or lower bound that does not begin with max or min.
var bound = regexp.MustCompile(`\b(?:[mM]ost|[lL]argest|[lL]ongest|[sS]mallest|[sS]hortest)[A-Z]\w*`)

// roundabout is a comment that says that a thing is what something does, in place of what it is or does.
var roundabout = regexp.MustCompile(`^\s*// \w+ (?:is|are) what(?: |$)`)

var (
	// clause is a sentence, an item, a cell or a heading that begins with a clause as its subject. A question does not
	// match.
	clause = regexp.MustCompile(`(?:^|[.!?:] |[|] |^#+ |^(?:[-*]|[0-9]+[.]) |^[*][*]| [-*] )(What|Who|Whoever)\b[^.!?|]*[.!?|]?`)
	// indented are lines of commands and examples.
	indented = regexp.MustCompile("^(?:    |\t|```)")
)

// checkClauses wants sentences of the documents to begin with their subject.
func checkClauses(h *repository) (complaints []string) {
	texts, err := h.sources()
	if err != nil {
		return []string{err.Error()}
	}
	for name, text := range texts {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for i, line := range strings.Split(joined(text), "\n") {
			for _, m := range clause.FindAllStringSubmatch(line, -1) {
				if !strings.HasSuffix(strings.TrimRight(m[0], " |"), "?") {
					complaints = append(complaints, fmt.Sprintf("%s:%d: begin with the subject, not with %q", name, i+1, strings.TrimSpace(m[0])))
				}
			}
		}
	}
	return complaints
}

// subjectFirst are the folders whose comments checkComments reads.
var subjectFirst = []string{"actors/...", "cmd/...", "integration/...", "internal/...", "policies/...", "protocol/...", "supervision/..."}

// checkComments wants sentences of comments to begin with their subject, as checkClauses does of documents.
func checkComments(h *repository) (complaints []string) {
	for _, f := range h.files {
		if !slices.ContainsFunc(subjectFirst, func(pattern string) bool { return covers(pattern, f.dir) }) {
			continue
		}
		for _, group := range f.tree.Comments {
			for _, m := range clause.FindAllString(strings.ReplaceAll(group.Text(), "\n", " "), -1) {
				if !strings.HasSuffix(m, "?") {
					complaints = append(complaints, h.complain(group, "begin with the subject, not with %q", strings.TrimSpace(m)))
				}
			}
		}
	}
	return complaints
}

// dangling is a word that stands for a thing named elsewhere, or for none.
var dangling = regexp.MustCompile(`(?i)\b(?:those|that) (?:of|that|are)\b|\b(?:likewise|meanwhile|whatever)\b`)

// danglingLimit is the maximum number of matches of dangling in 1,000 lines of comments of a top-level folder.
const danglingLimit = 8

// checkDangling wants comments to name things. It counts per top-level folder, because a single match may be good
// English.
func checkDangling(h *repository) (complaints []string) {
	lines, found := map[string]int{}, map[string][]string{}
	for _, f := range h.files {
		top, _, _ := strings.Cut(f.dir, "/")
		for _, group := range f.tree.Comments {
			text := group.Text()
			lines[top] += strings.Count(text, "\n")
			for _, m := range dangling.FindAllString(strings.ReplaceAll(text, "\n", " "), -1) {
				found[top] = append(found[top], h.complain(group, "name the thing in place of %q", m))
			}
		}
	}
	for top, all := range found {
		if len(all)*1000 > danglingLimit*lines[top] {
			complaints = append(complaints, fmt.Sprintf("%s: %d in %d lines of comments, more than %d in 1,000:\n%s", top, len(all), lines[top], danglingLimit, strings.Join(all, "\n")))
		}
	}
	return complaints
}

// joined puts each paragraph on the first of its lines and leaves the others empty, so that numbers of lines stay.
func joined(text string) string {
	lines := strings.Split(text, "\n")
	first := -1
	for i, line := range lines {
		switch {
		case line == "" || indented.MatchString(line) || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|"):
			first = -1
		case first >= 0 && !strings.HasPrefix(line, "- "):
			lines[first], lines[i] = lines[first]+" "+strings.TrimSpace(line), ""
		default:
			first = i
		}
	}
	return strings.Join(lines, "\n")
}

// checkRetiredWords wants none of them in code or docs.
func checkRetiredWords(h *repository) (complaints []string) {
	texts, err := h.sources()
	if err != nil {
		return []string{err.Error()}
	}
	faults := map[string]wordFault{} // of all words so far
	for name, text := range texts {
		for i, line := range strings.Split(text, "\n") {
			for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				fault, known := faults[word]
				if !known {
					fault = wordFault{retired.FindString(word), bound.FindString(word)}
					faults[word] = fault
				}
				if fault.retired != "" {
					complaints = append(complaints, fmt.Sprintf("%s:%d: %q is a word of our own that was given up", name, i+1, fault.retired))
				}
				if fault.bound != "" && !strings.HasSuffix(name, ".md") {
					complaints = append(complaints, fmt.Sprintf("%s:%d: a bound is named max… or min…, not %q", name, i+1, fault.bound))
				}
			}
			if strings.HasSuffix(name, ".go") && roundabout.MatchString(line) {
				complaints = append(complaints, fmt.Sprintf("%s:%d: say what it is or does, not that it is what …", name, i+1))
			}
		}
	}
	return complaints
}

// wordFault holds the retired part of a word and a wrong name of a bound in it; "" if there is none.
type wordFault struct{ retired, bound string }

// wellKnown are methods whose meaning the standard library has fixed.
var wellKnown = map[string]bool{
	"Error": true, "Unwrap": true, "Is": true, "As": true, "String": true, "GoString": true, "Format": true,
	"Len": true, "Less": true, "Swap": true,
	"Read": true, "Write": true, "ServeHTTP": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
}

// checkDocComments wants a docstring on every exported function, method, type, constant and variable. A method needs
// none if an interface of its package has it, or if the standard library defines its meaning.
func checkDocComments(h *repository) (complaints []string) {
	for _, files := range h.packages() {
		explained := explainedMethods(files)
		for _, f := range files {
			if f.test || f.tree.Name.Name == "main" {
				continue
			}
			for _, declaration := range f.tree.Decls {
				switch d := declaration.(type) {
				case *ast.FuncDecl:
					known := d.Recv != nil && (wellKnown[d.Name.Name] || explained[d.Name.Name] || !receiverExported(d))
					if d.Doc == nil && d.Name.IsExported() && !known {
						complaints = append(complaints, h.complain(d, "%s is exported and has no docstring", d.Name))
					}
				case *ast.GenDecl:
					complaints = append(complaints, h.checkSpecs(d)...)
				}
			}
		}
	}
	return complaints
}

// checkSpecs accepts, for constants and variables, a comment on the whole group.
func (h *repository) checkSpecs(d *ast.GenDecl) (complaints []string) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && (d.Doc == nil || len(d.Specs) > 1) {
				complaints = append(complaints, h.complain(s, "%s is exported and has no docstring", s.Name))
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
					complaints = append(complaints, h.complain(s, "%s is exported and has no docstring", name))
				}
			}
		}
	}
	return complaints
}

// explainedMethods returns the methods of all interfaces of a package; they are documented there.
func explainedMethods(files []*file) map[string]bool {
	explained := make(map[string]bool)
	for _, f := range files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if i, ok := n.(*ast.InterfaceType); ok {
				for _, method := range i.Methods.List {
					for _, name := range method.Names {
						explained[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return explained
}

func receiverExported(d *ast.FuncDecl) bool {
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && !exported {
			exported = name.IsExported()
			return false
		}
		return true
	})
	return exported
}

var (
	note  = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	issue = regexp.MustCompile(`#\d+`)
)

// checkNotes wants the number of an issue in every note about remaining work.
func checkNotes(h *repository) (complaints []string) {
	for _, f := range h.files {
		for _, group := range f.tree.Comments {
			for _, comment := range group.List {
				if note.MatchString(comment.Text) && !issue.MatchString(comment.Text) {
					complaints = append(complaints, h.complain(comment, "a note without the number of an issue"))
				}
			}
		}
		for _, i := range f.tree.Imports {
			if i.Name != nil && i.Name.Name == "." {
				complaints = append(complaints, h.complain(i, "a dot import hides where names come from"))
			}
		}
	}
	return complaints
}
