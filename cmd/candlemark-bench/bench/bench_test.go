package bench

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"candlemark/cmd/candlemark-bench/bench/profile"
	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/verify"
)

// The exit code depends on the findings of a run.
func TestExit(t *testing.T) {
	for name, c := range map[string]struct {
		found  verify.Findings
		err    error
		verify bool
		want   int
	}{
		"all is well":      {verify: true},
		"lost":             {found: verify.Findings{Lost: 1}, verify: true, want: 1},
		"doubled":          {found: verify.Findings{Doubled: 1}, verify: true, want: 1},
		"early":            {found: verify.Findings{Early: 1}, verify: true, want: 1},
		"out of order":     {found: verify.Findings{Disordered: 1}, verify: true, want: 1},
		"others' messages": {found: verify.Findings{Foreign: 1}, verify: true},
		"not asked":        {found: verify.Findings{Lost: 1}},
		"no broker":        {err: errors.New("refused"), want: 69},
		"pids":             {err: profile.ErrUsage, want: 64},
	} {
		var out bytes.Buffer
		b := &runs{Command: &Command{Stderr: &out}, Settings: &profile.Settings{Verify: c.verify}}
		if got := b.exit(&report.Result{Verify: c.found}, c.err); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// The rows of the table contain valid command lines.
func TestTable(t *testing.T) {
	for _, row := range profile.Table {
		if _, err := profile.Parse(strings.Fields(row.Command)); err != nil || row.Work == "" {
			t.Errorf("%s: %v", row.Command, err)
		}
	}
	var out, errs bytes.Buffer
	p := &Command{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: &errs}
	for args, want := range map[string]int{"table --nope": 64, "table --help": 0, "--help": 0, "nothing": 64, "sync --pid x": 64} {
		if got := p.Run(context.Background(), strings.Fields(args)); got != want {
			t.Errorf("%s: %d", args, got)
		}
	}
	out.Reset()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code := p.Run(ctx, []string{"table", "--url", "amqp://127.0.0.1:1", "--quiet"}); code != 69 || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("%d: %s", code, out.String())
	}
}

// The results of two brokers are shown side by side.
func TestComparison(t *testing.T) {
	side := func(broker string, rates ...float64) (all []*report.Result) {
		for _, rate := range rates {
			r := &report.Result{Profile: "bulk", Broker: broker, URL: "amqp://" + broker, Latency: map[string]stats.Summary{"latency": {Count: 1, P50: 1.5, P99: rate / 100}}}
			r.Add("consume_per_s", rate)
			r.Judge()
			all = append(all, r)
		}
		return all
	}
	c := report.Compare([][]*report.Result{side("a", 1000, 3000, 2000), side("b", 4000, 4000)})
	var text, json, row bytes.Buffer
	c.Text(&text)
	if err := c.JSON(&json); err != nil {
		t.Fatal(err)
	}
	c.TableRow(&row, "work", "bulk")
	for what, parts := range map[*bytes.Buffer][]string{
		&text: {"2,000 (1,000 to 3,000)", "4,000 (4,000 to 4,000)", "2.00", "amqp://b"},
		&json: {`"name":"consume_per_s","brokers":[{"median":2000,"min":1000,"max":3000},`, `"ratios":[1,2]`, `"rounds":3`},
		&row:  {"| work | `bulk` | 2,000/s, p50 1.50 ms, p99 20 | 4,000/s, p50 1.50 ms, p99 40 |"},
	} {
		for _, part := range parts {
			if !strings.Contains(what.String(), part) {
				t.Errorf("without %q:\n%s", part, what)
			}
		}
	}
	var out bytes.Buffer
	r := side("a", 5)[0]
	r.Verify.Lost, r.NoCost = 2, "no /proc"
	r.Text(&out)
	for _, part := range []string{"LOST 2", "no /proc", "p50 1.50"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("without %q:\n%s", part, out.String())
		}
	}
}
