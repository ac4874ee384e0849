package main

import (
	"regexp"
	"slices"
	"strings"
)

// explanation is the reason why a script's answers differ intentionally. Every line that only one side has must contain
// one of that side's texts, and every text must occur in a line, so that no explanation hides an unrelated difference.
// In a text "…" stands for anything.
type explanation struct {
	id     string
	theirs []string // in lines that only RabbitMQ has
	ours   []string // in lines that only Candlemark has
	reason string
}

// texts makes the lists of the table short.
func texts(list ...string) []string { return list }

// explain returns the explanation of a difference, nil if there is none.
func explain(id string, d *difference) *explanation {
	for i := range explanations {
		e := &explanations[i]
		if e.id == id && covers(e.theirs, d.onlyA) && covers(e.ours, d.onlyB) {
			return e
		}
	}
	return nil
}

// covers reports whether texts and lines belong together. That a connection ends, or a call gets no answer, follows
// from other lines.
func covers(list, lines []string) bool {
	found := make([]bool, len(list))
	for _, line := range lines {
		covered := line == endOfConnection || line == noAnswer
		for i, text := range list {
			if holds(line, text) {
				covered, found[i] = true, true
			}
		}
		if !covered {
			return false
		}
	}
	return !slices.Contains(found, false)
}

// holds reports whether the parts of a text stand in a line, in their order.
func holds(line, text string) bool {
	for part := range strings.SplitSeq(text, "…") {
		_, behind, ok := strings.Cut(line, strings.TrimSpace(part))
		if !ok {
			return false
		}
		line = behind
	}
	return true
}

// rule is a difference that may occur in many scripts: matches are removed from both sides before they are compared
// again.
type rule struct {
	pattern      *regexp.Regexp
	theirs, ours string // for the document
	reason       string
}

var rules = []rule{
	{
		regexp.MustCompile(` Redelivered=true( Exchange="[^"]*")?( RoutingKey="[^"]*")?( \| (?:[^|]* )?Headers=\{(?:[^|]* )?x-death:)`), "Redelivered=true of a dead letter that was rejected", "",
		"ours: as in RabbitMQ before 4.3, the flag says that this queue has delivered the message before",
	},
	{
		regexp.MustCompile(`\\n +`), "{value_too_large,\\n    99999999999999999999}", "{value_too_large,99999999999999999999}",
		"ours is better: a long term is on one line in a reply text",
	},
}

// generally removes matches of the rules from both transcripts, and returns the rules that applied.
func generally(a, b *transcript) []*rule {
	var needed []*rule
	for i := range rules {
		if r := &rules[i]; a.without(r.pattern) != b.without(r.pattern) {
			needed = append(needed, r)
		}
	}
	return needed
}
