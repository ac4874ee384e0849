package config

import "fmt"

// Nearest returns the name that is most like a word, "" if none is like it: at most a third of
// it, and two characters of a short one, would have to be changed.
func Nearest(word string, names []string) string {
	best, least := "", max(len(word)/3, 2)+1
	for _, name := range names {
		if d := distance(word, name, least); d < least && d < max(len(word), len(name)) {
			best, least = name, d
		}
	}
	return best
}

// didYouMean is the end of a refusal, "" if nothing is like the word.
func didYouMean(word string, names []string) string {
	if name := Nearest(word, names); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return ""
}

// distance is how many characters have to be added, taken out, replaced, or swapped with
// their neighbour to make one of the other; enough if it is that much or more.
func distance(a, b string, enough int) int {
	if len(a)-len(b) >= enough || len(b)-len(a) >= enough {
		return enough
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
