package main

import (
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

var explanations = []explanation{}
