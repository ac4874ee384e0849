package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"candlemark/cmd/candlemark-bench/bench/profile"
	"candlemark/cmd/candlemark-bench/bench/report"
)

// rounds runs against all brokers in turns and compares what they found.
func (b *runs) rounds(brokers []string) (c *report.Comparison, code int) {
	all := make([][]*report.Result, len(brokers))
	for round := range b.Rounds {
		for i := range brokers {
			at := (round + i) % len(brokers) // the first one may find the machine in another state
			if !b.Quiet {
				fmt.Fprintf(b.Stderr, "round %d of %d, broker %d\n", round+1, b.Rounds, at+1)
			}
			r, err := b.once(brokers[at], at, len(brokers))
			if code = max(code, b.exit(r, err)); err == nil {
				all[at] = append(all[at], r)
			}
			if err != nil || b.ctx.Err() != nil {
				return report.Compare(all), code
			}
		}
	}
	return report.Compare(all), code
}

// table runs everything that the benchmarks are made of, and prints the medians as a table. The flags are for all of its rows.
func (p *Command) table(ctx context.Context, args []string) (code int) {
	for i, row := range profile.Table {
		s, err := profile.Parse(append(strings.Fields(row.Command), args...))
		switch {
		case errors.Is(err, flag.ErrHelp):
			profile.Usage(p.Stdout)
			return 0
		case err != nil:
			return p.misused(err)
		}
		brokers := s.Compare
		if len(brokers) == 0 {
			brokers = []string{s.URL}
		}
		if i == 0 {
			report.TableHead(p.Stdout, len(brokers))
		}
		b := &runs{Command: p, Settings: s, ctx: ctx}
		c, failed := b.rounds(brokers)
		c.TableRow(p.Stdout, row.Work, row.Command)
		if code = max(code, failed); ctx.Err() != nil {
			break
		}
	}
	return code
}
