package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// proven are the families of rules of which each one has a test that carries its id: how many there are. DLY-8 and on are our own (ADR 18).
var proven = []struct {
	family string
	rules  int
}{{"TTL", 37}, {"LEASE", 13}, {"DL", 31}, {"DLY", 14}, {"POL", 18}}

var ruleID = regexp.MustCompile(`(TTL|LEASE|DLY|DL|POL)[-_]?([0-9]+)`)

// checkProofs wants every rule of these families in the name of a test or at the beginning of a text in one, where names of subtests are.
func checkProofs(h *house) (complaints []string) {
	found := map[string]bool{}
	for _, f := range h.files {
		if !f.test {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncDecl:
				if strings.HasPrefix(x.Name.Name, "Test") {
					cite(found, x.Name.Name)
				}
			case *ast.BasicLit:
				text, _ := strconv.Unquote(x.Value)
				if at := ruleID.FindStringIndex(text); x.Kind == token.STRING && at != nil && at[0] == 0 && !strings.Contains(text, "%") {
					cite(found, text)
				}
			}
			return true
		})
	}
	for _, p := range proven {
		for n := 1; n <= p.rules; n++ {
			if id := fmt.Sprint(p.family, "-", n); !found[id] {
				complaints = append(complaints, id+" has no test that carries its id in its name")
			}
		}
	}
	return complaints
}

// cite notes the ids in a text. Those of TestDL15DL17 are two; that of TestHTTL1 is none.
func cite(found map[string]bool, text string) {
	for _, at := range ruleID.FindAllStringSubmatchIndex(text, -1) {
		if at[0] == 0 || text[at[0]-1] < 'A' || text[at[0]-1] > 'Z' {
			found[text[at[2]:at[3]]+"-"+text[at[4]:at[5]]] = true
		}
	}
}
