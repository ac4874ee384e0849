package suggest

import "strings"

// Closest returns the known word with the smallest edit distance from word, the first of several. If the distance is more than a third
// of its letters, and more than two, it returns the only known word that begins with word, if that has at least three letters, or else "".
func Closest(word string, known []string) (found string) {
	least := max(2, len(word)/3) + 1
	for _, k := range known {
		if n := distance(word, k); n < least {
			found, least = k, n
		}
	}
	if found != "" || len(word) < 3 {
		return found
	}
	for _, k := range known {
		switch {
		case !strings.HasPrefix(k, word):
		case found != "":
			return ""
		default:
			found = k
		}
	}
	return found
}

// distance counts the insertions, deletions, replacements and swaps of adjacent letters that turn a into b.
func distance(a, b string) int {
	var before []int // the row before the previous one
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
