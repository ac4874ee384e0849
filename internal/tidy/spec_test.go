package tidy

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// families are the prefixes of rule ids. Each has its page in docs/spec.
const families = `ERR|TTL|LEASE|LOCK|DEFER|DUP|SESSION|DLY|DL|POL|DEC|DEF|PRO|SBE|SBR|SBT|TXN|DUR`

// ruleHeading matches the heading of a rule on a page of docs/spec. The rule extends to the next one.
var ruleHeading = regexp.MustCompile(`(?m)^#+ ((?:` + families + `)-[0-9]+)$`)

// statedRule is a rule as stated on its page.
type statedRule struct {
	id, page string
	text     string // without the heading
}

// statedRules returns the rules of docs/spec, in the order of the pages.
func (h *repository) statedRules() ([]statedRule, error) {
	pages, err := fs.Glob(h.fsys, "docs/spec/*.md")
	if err != nil {
		return nil, err
	}
	var all []statedRule
	for _, page := range pages {
		text, err := fs.ReadFile(h.fsys, page)
		if err != nil {
			return nil, err
		}
		at := ruleHeading.FindAllSubmatchIndex(text, -1)
		for i, m := range at {
			end := len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			all = append(all, statedRule{string(text[m[2]:m[3]]), page, string(text[m[1]:end])})
		}
	}
	return all, nil
}

// testLink is a link from a page of docs/spec to a test.
var testLink = regexp.MustCompile(`\]\(([^()\s]+_test\.go#(?:Test|Fuzz)\w+)\)`)

// checkProofs wants every rule to be stated once, with its source and with links to existing tests. checkLinks checks
// the other links of a page.
func checkProofs(h *repository) (complaints []string) {
	all, err := h.statedRules()
	if err != nil {
		return []string{err.Error()}
	}
	stated := map[string]bool{}
	for _, r := range all {
		if stated[r.id] {
			complaints = append(complaints, fmt.Sprintf("%s: %s is stated twice", r.page, r.id))
		}
		stated[r.id] = true
		if statement, _, found := strings.Cut(r.text, "\n- Source: "); !found || strings.TrimSpace(statement) == "" {
			complaints = append(complaints, fmt.Sprintf("%s: %s has no statement followed by a source", r.page, r.id))
		}
		tests := testLink.FindAllStringSubmatch(r.text, -1)
		if len(tests) == 0 {
			complaints = append(complaints, fmt.Sprintf("%s: %s has no test", r.page, r.id))
		}
		for _, t := range tests {
			if !h.leads(r.page, t[1]) {
				complaints = append(complaints, fmt.Sprintf("%s: the test of %s is not there: %s", r.page, r.id, t[1]))
			}
		}
	}
	return complaints
}
