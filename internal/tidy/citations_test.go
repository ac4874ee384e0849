package tidy

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	// A rule is cited by its id, several in a row as TTL-20…22, and in names of tests without the hyphen: TestDL15DL17.
	citedRule  = regexp.MustCompile(`\b(` + families + `)-([0-9]+)(?:…([0-9]+))?`)
	namedTest  = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	ruleInName = regexp.MustCompile(`(` + families + `|ADR)_?([0-9]+)`)
	// A decision record is cited by its number, or by the beginning of its path.
	citedRecord = regexp.MustCompile(`\bADRs? ([0-9]+)(?: and ([0-9]+))?|\badr/([0-9]{4})\b`)
	recordName  = regexp.MustCompile(`^docs/adr/([0-9]{4})-`)
	citedPage   = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	address     = regexp.MustCompile(`https?://\S+`)
	// outside are documents that existed before the repository.
	outside = regexp.MustCompile(`\b(?:DESIGN|STYLE)\b|§`)
)

// sources returns the files that may contain citations: all text except the tests of this package, which contain wrong citations.
func (h *repository) sources() (texts map[string]string, err error) {
	texts = map[string]string{}
	err = fs.WalkDir(h.fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || name == "bin" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || built.MatchString(name) || path.Dir(name) == "internal/tidy" && strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(h.fsys, name)
		if utf8.Valid(text) && !bytes.ContainsRune(text, 0) {
			texts[name] = string(text)
		}
		return err
	})
	return texts, err
}

// checkCitations wants every rule, decision record and document that is cited to be in the repository.
func checkCitations(h *repository) (complaints []string) {
	texts, err := h.sources()
	if err != nil {
		return []string{err.Error()}
	}
	rules, err := h.statedRules()
	if err != nil {
		return []string{err.Error()}
	}
	known := map[string]bool{}
	for _, r := range rules {
		known[r.id] = true
	}
	for name := range texts {
		if m := recordName.FindStringSubmatch(name); m != nil {
			known[recordID(m[1])] = true
		}
	}
	for name, text := range texts {
		for i, line := range strings.Split(text, "\n") {
			if !hint(line) {
				continue
			}
			for _, cited := range citations(name, line) {
				if !known[cited] && !h.isPage(name, cited) {
					complaints = append(complaints, fmt.Sprintf("%s:%d: cites %s, which the repository does not have", name, i+1, cited))
				}
			}
		}
	}
	return complaints
}

// hints are substrings: each citation contains one of them, few lines do, and they are found quickly.
var hints = append(strings.Split(families, "|"), "ADR", "adr/", ".md", "DESIGN", "STYLE", "§")

func hint(line string) bool {
	return slices.ContainsFunc(hints, func(part string) bool { return strings.Contains(line, part) })
}

// citations returns the ids and documents that a line cites.
func citations(name, line string) (cited []string) {
	for _, m := range citedRule.FindAllStringSubmatch(line, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[3] != "" {
			last, _ = strconv.Atoi(m[3])
		}
		for n := first; n <= last; n++ {
			cited = append(cited, fmt.Sprint(m[1], "-", n))
		}
	}
	if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".md") {
		for _, test := range namedTest.FindAllString(line, -1) {
			cited = append(cited, inName(test)...)
		}
	}
	for _, m := range citedRecord.FindAllStringSubmatch(line, -1) {
		for _, number := range m[1:] {
			if number != "" {
				cited = append(cited, recordID(number))
			}
		}
	}
	if strings.Contains(line, ".md") && !strings.HasSuffix(name, ".md") { // checkLinks checks these
		cited = append(cited, citedPage.FindAllString(address.ReplaceAllString(line, ""), -1)...)
	}
	return append(cited, outside.FindAllString(line, -1)...)
}

// inName returns the ids in the name of a test. TestDL15DL17 has two ids; TestHTTL1 and TestTTL0 have none: there is no
// rule 0, but a TTL of 0.
func inName(test string) (cited []string) {
	for _, at := range ruleInName.FindAllStringSubmatchIndex(test, -1) {
		family, number := test[at[2]:at[3]], test[at[4]:at[5]]
		switch {
		case at[0] > 0 && test[at[0]-1] >= 'A' && test[at[0]-1] <= 'Z' || strings.Trim(number, "0") == "":
		case family == "ADR":
			cited = append(cited, recordID(number))
		default:
			cited = append(cited, family+"-"+number)
		}
	}
	return cited
}

func recordID(number string) string { return "ADR " + strings.TrimLeft(number, "0") }

// isPage reports whether a cited document exists: relative to the root, to docs, or to the citing file.
func (h *repository) isPage(from, cited string) bool {
	if !strings.HasSuffix(cited, ".md") {
		return false
	}
	for _, dir := range []string{".", "docs", path.Dir(from)} {
		if _, err := fs.Stat(h.fsys, path.Join(dir, cited)); err == nil {
			return true
		}
	}
	return false
}
