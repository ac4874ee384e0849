package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"candlemark/cmd/candlemark-bench/bench/stats"
)

// Comparison is of several brokers.
type Comparison struct {
	Profile string   `json:"profile"`
	Flags   []string `json:"flags"`
	Brokers []Side   `json:"brokers"`
	Rows    []Row    `json:"figures"`
}

// Side is one of the brokers.
type Side struct {
	URL    string `json:"url"`
	Broker string `json:"broker"`
	Rounds int    `json:"rounds"`
}

// Row is a figure of all brokers.
type Row struct {
	Name    string         `json:"name"`
	Spreads []stats.Spread `json:"brokers"`
	// Ratios of the medians to the first broker's; 0 if that is 0.
	Ratios []float64 `json:"ratios"`
}

// Compare sums up the rounds of each broker.
func Compare(all [][]*Result) *Comparison {
	c := &Comparison{}
	var names []string
	values := make([]map[string][]float64, len(all))
	known := map[string]bool{}
	for i, rounds := range all {
		values[i] = map[string][]float64{}
		side := Side{Rounds: len(rounds)}
		for _, r := range rounds {
			c.Profile, c.Flags = r.Profile, r.Flags
			side.URL, side.Broker = r.URL, r.Broker
			for _, f := range r.Figures {
				if !known[f.Name] {
					known[f.Name] = true
					names = append(names, f.Name)
				}
				values[i][f.Name] = append(values[i][f.Name], f.Value)
			}
		}
		c.Brokers = append(c.Brokers, side)
	}
	for _, name := range names {
		row := Row{Name: name}
		for i := range all {
			row.Spreads = append(row.Spreads, stats.SpreadOf(values[i][name]))
			row.Ratios = append(row.Ratios, stats.Round(stats.Ratio(row.Spreads[0], row.Spreads[i]), 3))
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// JSON writes it as one line.
func (c *Comparison) JSON(out io.Writer) error {
	line, err := json.Marshal(c)
	if err == nil {
		_, err = out.Write(append(line, '\n'))
	}
	return err
}

// cell returns the figures of a broker that matter most, as a table has them; "–" if the row has none.
func (c *Comparison) cell(i int) string {
	var parts []string
	for _, row := range c.Rows {
		s := row.Spreads[i]
		for _, f := range inTable {
			if row.Name == f.name {
				parts = append(parts, fmt.Sprintf(f.format, grouped(s.Median)))
			}
		}
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, ", ")
}

// inTable are the figures that a cell has.
var inTable = []struct{ name, format string }{
	{"consume_per_s", "%s/s"},
	{"calls_per_s", "%s calls/s"},
	{"latency_p50_ms", "p50 %s ms"},
	{"latency_p99_ms", "p99 %s"},
	{"expiry_p50_ms", "late by p50 %s ms"},
	{"expiry_p99_ms", "p99 %s"},
	{"delay_p50_ms", "late by p50 %s ms"},
	{"delay_p99_ms", "p99 %s"},
	{"empty_after_last_due_ms", "empty %s ms after the last deadline"},
	{"bystander_storm_p99_ms", "a bystander's p99 %s ms"},
	{"rss_bytes_each", "%s bytes resident"},
	{costName, "%s CPU-s/M"},
}

// TableHead writes the first two lines of a table for so many brokers.
func TableHead(out io.Writer, brokers int) {
	fmt.Fprint(out, "| work | command |")
	for i := range brokers {
		fmt.Fprintf(out, " broker %d |", i+1)
	}
	fmt.Fprintln(out, "\n|"+strings.Repeat(" --- |", brokers+2))
}

// TableRow writes a line of a table.
func (c *Comparison) TableRow(out io.Writer, work, command string) {
	fmt.Fprintf(out, "| %s | `%s` |", work, command)
	for i := range c.Brokers {
		fmt.Fprintf(out, " %s |", c.cell(i))
	}
	fmt.Fprintln(out)
}

// Text writes a table for people: the median, and the least and the most of all rounds.
func (c *Comparison) Text(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, c.Profile)
	for i, side := range c.Brokers {
		fmt.Fprintf(w, "\t%s %s", side.Broker, side.URL)
		if i > 0 {
			fmt.Fprint(w, "\tratio")
		}
	}
	fmt.Fprintln(w)
	for _, row := range c.Rows {
		fmt.Fprintf(w, "%s", row.Name)
		for i, s := range row.Spreads {
			fmt.Fprintf(w, "\t%s (%s to %s)", grouped(s.Median), grouped(s.Min), grouped(s.Max))
			if i > 0 {
				fmt.Fprintf(w, "\t%.2f", row.Ratios[i])
			}
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // like all that is printed
}
