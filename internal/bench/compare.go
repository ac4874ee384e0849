package bench

import (
	"fmt"

	"candlemark/internal/bench/report"
)

// compare runs against all brokers in turns, and prints the figures of all rounds beside each other.
func (b *runs) compare() int {
	all := make([][]*report.Result, len(b.Compare))
	code := 0
	for round := range b.Rounds {
		for i := range b.Compare {
			at := (round + i) % len(b.Compare) // whoever is first may find the machine in another state
			if !b.Quiet {
				fmt.Fprintf(b.Stderr, "round %d of %d, broker %d\n", round+1, b.Rounds, at+1)
			}
			r, err := b.once(b.Compare[at], at)
			code = max(code, b.exit(r, err))
			if err != nil {
				return code
			}
			all[at] = append(all[at], r)
			if b.ctx.Err() != nil {
				break
			}
		}
		if b.ctx.Err() != nil {
			break
		}
	}
	c := report.Compare(all)
	if b.JSON {
		_ = c.JSON(b.Stdout) // like all that is printed
	} else {
		c.Text(b.Stdout)
	}
	return code
}
