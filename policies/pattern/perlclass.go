package pattern

import "strings"

// scanClass reads the character class at i and returns the index behind it.
func scanClass(expr string, i int) (next int, message string, at int) {
	j := i + 1
	if j < len(expr) && expr[j] == '^' {
		j++
	}
	low := -1 // the character that a following - would make the start of a range
	for first := true; j < len(expr) && (expr[j] != ']' || first); first = false {
		if strings.HasPrefix(expr[j:], "[:") {
			if end := strings.Index(expr[j:], ":]"); end > 0 {
				j, low = j+end+2, -1
				continue
			}
		}
		c, size := classChar(expr[j:])
		if size == 0 {
			return j, `\ at end of pattern`, len(expr)
		}
		j += size
		if low < 0 || expr[j-size:j] != "-" || j >= len(expr) || expr[j] == ']' {
			low = c
			continue
		}
		high, size := classChar(expr[j:])
		if high >= 0 && high < low {
			return j, "range out of order in character class", j + size - 1
		}
		j, low = j+size, -1
	}
	if j >= len(expr) {
		return j, "missing terminating ] for character class", len(expr)
	}
	return j + 1, "", 0
}

// classChar reads one character of a class: -1 for an escape that stands for
// something else than itself, size 0 for a \ at the end.
func classChar(s string) (c, size int) {
	switch {
	case s[0] != '\\':
		return int(s[0]), 1
	case len(s) == 1:
		return -1, 0
	case isWord(rune(s[1])):
		return -1, 2
	default:
		return int(s[1]), 2
	}
}
