package document

import (
	"encoding/json"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/policies"
)

// Verdict is the result of the import of an item.
type Verdict string

// The verdicts, the graver the later.
const (
	Taken        Verdict = "taken"        // imported unchanged
	Approximated Verdict = "approximated" // without a part that there is not here
	Risky        Verdict = "risky"        // unchanged, but an operator should check it
	Ignored      Verdict = "ignored"      // nothing is done: it is not for this broker, or there already
	Refused      Verdict = "refused"      // it is not valid
)

// Verdicts are all, the graver the later.
var Verdicts = []Verdict{Taken, Approximated, Risky, Ignored, Refused}

func (v Verdict) severity() int {
	for i, known := range Verdicts {
		if v == known {
			return i
		}
	}
	return -1
}

// Note is one thing to be said about an item.
type Note struct {
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`
}

// Item is an object of a section.
type Item struct {
	Section string  `json:"section"`
	VHost   string  `json:"vhost,omitempty"`
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"` // the gravest of the notes
	Notes   []Note  `json:"notes"`
	// Value goes into the broker: an auth.Account, auth.VHost, auth.Grant or auth.TopicGrant, VHostLimits, a parameters.Parameter,
	// Global, a *policies.Policy, or a method that declares or binds. Nil for an item that is ignored or refused, or there
	// already.
	Value any `json:"-"`
}

// Note adds a verdict with its reason.
func (i *Item) Note(v Verdict, text string) {
	i.Notes = append(i.Notes, Note{v, text})
	if v.severity() > i.Verdict.severity() {
		i.Verdict = v
	}
	if v == Ignored || v == Refused {
		i.Value = nil
	}
}

// Refuse records the error of a refused item.
func (i *Item) Refuse(err error) {
	i.Note(Refused, oneLine(err))
}

// oneLine returns the text of an error without line breaks.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), ": ")
}

// VHostLimits are the limits of a virtual host.
type VHostLimits struct {
	VHost  string
	Limits auth.Limits
}

// Global is a global parameter.
type Global struct {
	Name  string
	Value json.RawMessage
}

// Plan lists the effects of an import, in its order.
type Plan struct {
	Items    []Item
	Warnings []string // about the document
}

// Counts returns how many items have each verdict.
func (p *Plan) Counts() map[Verdict]int {
	counts := map[Verdict]int{}
	for _, v := range Verdicts {
		counts[v] = 0
	}
	for i := range p.Items {
		counts[p.Items[i].Verdict]++
	}
	return counts
}

// Refused returns the invalid items.
func (p *Plan) Refused() (all []*Item) {
	for i := range p.Items {
		if p.Items[i].Verdict == Refused {
			all = append(all, &p.Items[i])
		}
	}
	return all
}

// Name names a queue or an exchange.
type Name struct{ VHost, Name string }

// Present describes a broker before the import. Judge adds the document's objects to it.
type Present struct {
	Users     map[string]bool
	VHosts    map[string]auth.VHost
	Exchanges map[Name]policies.ExchangeDeclaration
	Queues    map[Name]policies.QueueDeclaration
}
