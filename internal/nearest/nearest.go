package nearest

// To returns the known word that takes the fewest changes of letters to get to from word, the first of several; "" if
// more than a third of its letters, or two, would have to change.
func To(word string, known []string) (found string) {
	least := max(2, len(word)/3) + 1
	for _, k := range known {
		if n := distance(word, k); n < least {
			found, least = k, n
		}
	}
	return found
}

// distance counts the letters that have to be put in, taken out or replaced, or exchanged with their neighbours.
func distance(a, b string) int {
	var before []int // the row above the last
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
