package main

import (
	"regexp"
	"slices"
	"strings"
)

// explanation says why a script's answers differ and shall. The two texts must stand in what differs, so that no explanation hides
// a difference that it was not written for.
type explanation struct {
	id     string
	theirs string // in a line that only RabbitMQ 3.10 has; empty: it says nothing where we do
	ours   string // in a line that only Candlemark has; empty: we say nothing where it does
	reason string
}

// explain returns the explanation of a difference, nil if there is none.
func explain(id string, d *difference) *explanation {
	for i := range explanations {
		e := &explanations[i]
		if e.id == id && e.covers(d) {
			return e
		}
	}
	return nil
}

func (e *explanation) covers(d *difference) bool {
	return stands(e.theirs, d.onlyA) && stands(e.ours, d.onlyB)
}

func stands(text string, lines []string) bool {
	if text == "" {
		return len(lines) == 0
	}
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, text) })
}

// rule is a difference that may show in many scripts: what matches is taken out of both sides before they are compared again.
type rule struct {
	pattern      *regexp.Regexp
	theirs, ours string // for the document
	reason       string
}

var rules = []rule{
	{
		regexp.MustCompile(` x-last-death-(exchange|queue|reason):"[^"]*"`), "", "x-last-death-exchange, x-last-death-queue, x-last-death-reason",
		"3.10 against 4.x: a dead-lettered message also tells its last death",
	},
	{
		regexp.MustCompile(`\\n +`), "{value_too_large,\\n    99999999999999999999}", "{value_too_large,99999999999999999999}",
		"ours is better: a long term stands on one line in a reply text",
	},
}

// generally takes out of both transcripts what the rules allow, and returns the rules that were needed.
func generally(a, b *transcript) []*rule {
	var needed []*rule
	for i := range rules {
		if r := &rules[i]; a.without(r.pattern) != b.without(r.pattern) {
			needed = append(needed, r)
		}
	}
	return needed
}

var explanations = []explanation{}
