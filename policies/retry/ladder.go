package retry

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSteps is the maximum number of steps of a ladder.
const maxSteps = 32

// units are the units of a step, in ms.
var units = []struct {
	name string
	ms   int64
}{{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}, {"d", 86_400_000}, {"w", 604_800_000}}

// ParseLadder reads a list of delays, such as 1s,10s,1m, with units from ms to w, without a unit in ms. It returns the list in ms,
// with commas between the numbers. An error tells what is wrong: there are 1 to 32 steps, each from 1 ms to ten years.
func ParseLadder(text string) (ladder string, err error) {
	steps := strings.Split(text, ",")
	if len(steps) > maxSteps {
		return "", fmt.Errorf("a ladder has at most %d steps, not %d", maxSteps, len(steps))
	}
	for i, word := range steps {
		ms, ok := stepOf(strings.TrimSpace(word))
		if !ok {
			return "", fmt.Errorf("'%s' is not a delay such as 500ms, 10s, 1m, 2h, 1d or 1w, up to 10 years", strings.TrimSpace(word))
		}
		steps[i] = strconv.FormatInt(ms, 10)
	}
	return strings.Join(steps, ","), nil
}

func stepOf(word string) (ms int64, ok bool) {
	number, unit := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz"), int64(1)
	for _, u := range units {
		if word[len(number):] == u.name {
			unit = u.ms
			break
		} else if u.name == "w" && len(number) < len(word) {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || number[0] == '+' || n < 1 || n > longest/unit {
		return 0, false
	}
	return n * unit, true
}

// step returns the n-th step of a ladder, from 1; after its end the last one.
func step(ladder string, n uint32) (ms int64) {
	for word := range strings.SplitSeq(ladder, ",") {
		ms, _ = strconv.ParseInt(word, 10, 64)
		if n--; n == 0 {
			break
		}
	}
	return ms
}
