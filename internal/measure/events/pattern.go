package events

import "strings"

// Pattern chooses events by their names as topic exchanges do: * stands for a word, # for any number of them.
type Pattern struct{ words []string }

// ParsePattern parses a pattern.
func ParsePattern(text string) Pattern {
	var words []string
	for word := range strings.SplitSeq(text, ".") {
		if word != "#" || len(words) == 0 || words[len(words)-1] != "#" { // #.# is #
			words = append(words, word)
		}
	}
	return Pattern{words}
}

// Matches reports whether the pattern matches a name.
func (p Pattern) Matches(name string) bool {
	// after[i] reports whether the first i words of the pattern match the words of the name so far.
	after := make([]bool, len(p.words)+1)
	after[0] = true
	skip := func() {
		for i, word := range p.words {
			after[i+1] = after[i+1] || word == "#" && after[i]
		}
	}
	skip()
	for word := range strings.SplitSeq(name, ".") {
		for i := len(p.words) - 1; i >= 0; i-- {
			switch own := p.words[i]; own {
			case "#": // stays matched
			case "*", word:
				after[i+1] = after[i]
			default:
				after[i+1] = false
			}
		}
		after[0] = false
		skip()
	}
	return after[len(p.words)]
}
