package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"candlemark/cmd/candlemark-bench/bench/profile"
	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/shape"
	"candlemark/internal/admin/httpapi/client"
)

// Exit codes.
const (
	exitFailed = 1  // a message was lost, doubled, early or out of order
	exitUsage  = 64 // the command line is wrong
	exitBroker = 69 // the broker refuses, or is not there
)

// Command runs a command line.
type Command struct {
	Getenv         func(string) string
	Stdout, Stderr io.Writer
}

// Run carries out a command line until it is done, or earlier if the context ends, and returns the exit code.
func (p *Command) Run(ctx context.Context, args []string) int {
	if len(args) > 0 && args[0] == "table" {
		return p.table(ctx, args[1:])
	}
	s, err := profile.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		profile.Usage(p.Stdout)
		return 0
	case err != nil:
		return p.misused(err)
	}
	b := &runs{Command: p, Settings: s, ctx: ctx}
	if len(s.Compare) > 0 {
		c, code := b.rounds(s.Compare)
		b.print(c)
		return code
	}
	r, err := b.once(s.URL, 0, 1)
	if r != nil {
		b.print(r)
	}
	return b.exit(r, err)
}

func (p *Command) misused(err error) int {
	fmt.Fprintf(p.Stderr, "%v\n\ncandlemark-bench --help lists profiles and flags\n", err)
	return exitUsage
}

// runs are of one command line.
type runs struct {
	*Command
	*profile.Settings
	ctx context.Context
}

// once runs against the i-th of the brokers; the result is nil if there is nothing to report.
func (b *runs) once(address string, i, of int) (*report.Result, error) {
	s := *b.Settings
	one := &shape.Bench{Settings: &s, Context: b.ctx, HTTP: nth(b.HTTP, i)}
	if one.HTTP == "" && of == 1 {
		one.HTTP = client.AddressFrom(b.Getenv)
	}
	if !b.Quiet {
		one.Progress = b.Stderr
	}
	pids := b.PIDs
	if of > 1 && len(pids) > 0 {
		if len(pids) != of {
			return nil, fmt.Errorf("%w: --pid wants as many as --compare", profile.ErrUsage)
		}
		pids = pids[i : i+1]
	}
	return one.Run(address, pids)
}

// nth returns the i-th of texts with commas between them; "" if there are not so many.
func nth(list string, i int) string {
	parts := strings.Split(list, ",")
	if i >= len(parts) {
		return ""
	}
	return strings.TrimSpace(parts[i])
}

// printed is a result, or a comparison.
type printed interface {
	JSON(out io.Writer) error
	Text(out io.Writer)
}

func (b *runs) print(r printed) {
	if b.JSON {
		_ = r.JSON(b.Stdout) // like all that is printed
		return
	}
	r.Text(b.Stdout)
}

// exit returns the exit code for a result or an error.
func (b *runs) exit(r *report.Result, err error) int {
	switch {
	case errors.Is(err, profile.ErrUsage):
		fmt.Fprintln(b.Stderr, err)
		return exitUsage
	case err != nil:
		fmt.Fprintln(b.Stderr, "candlemark-bench:", err)
		return exitBroker
	case b.Verify && !r.Verify.OK():
		return exitFailed
	}
	return 0
}
