package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"candlemark/cmd/candlemark-bench/bench/stats"
)

// JSON writes a result as one line.
func (r *Result) JSON(out io.Writer) error {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = out.Write(append(line, '\n'))
	}
	return err
}

// Text writes a result for people.
func (r *Result) Text(out io.Writer) {
	fmt.Fprintf(out, "%s\n", strings.TrimSpace(strings.Join([]string{r.Profile, r.Broker, r.URL, r.Label}, "  ")))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  messages\tsent %s, received %s", grouped(float64(r.Sent)), grouped(float64(r.Received)))
	for _, odd := range []struct {
		n    int64
		what string
	}{{r.Refused, "refused"}, {r.Returned, "returned"}, {r.Redelivered, "redelivered"}} {
		if odd.n > 0 {
			fmt.Fprintf(w, ", %s %s", grouped(float64(odd.n)), odd.what)
		}
	}
	fmt.Fprintln(w)
	for _, f := range r.Figures {
		if !fromElsewhere(f.Name) {
			fmt.Fprintf(w, "  %s\t%s\n", f.Name, grouped(f.Value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Latency)) {
		fmt.Fprintf(w, "  %s\t%s\n", name, summary(r.Latency[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Lateness)) {
		l := r.Lateness[name]
		fmt.Fprintf(w, "  %s\t%s; %d early, %d by over 1 ms; %d late by over 10 ms, %d by over 100 ms, %d by over 1 s\n",
			name, summary(l.Summary), l.Early, l.EarlyOver1ms, l.LateOver10ms, l.LateOver100ms, l.LateOver1000ms)
	}
	if c := r.Cost; c != nil {
		fmt.Fprintf(w, "  broker\t%s CPU-s per million, %.2f CPU-s, %.2f cores; RSS %.0f MiB, at most %.0f; %d files, %d threads; %.1f MiB written\n",
			grouped(c.PerMillion), c.CPU, c.Cores, c.RSS, c.RSSPeak, c.Files, c.Threads, c.Written)
		fmt.Fprintf(w, "  bench\t%s CPU-s per million; others %.2f cores\n", grouped(r.Client.PerMillion), r.Machine.Others)
	} else {
		fmt.Fprintf(w, "  broker\tits cost is not known: %s\n", r.NoCost)
	}
	if v := r.Verify; v.OK() {
		fmt.Fprint(w, "  verify\tnothing lost, doubled, early, or out of order")
	} else {
		fmt.Fprintf(w, "  verify\tLOST %d, DOUBLED %d, EARLY %d, OUT OF ORDER %d", v.Lost, v.Doubled, v.Early, v.Disordered)
	}
	if n := r.Verify.Foreign; n > 0 {
		fmt.Fprintf(w, "; %d messages of others", n)
	}
	fmt.Fprintln(w)
	_ = w.Flush() // like all that is printed
}

// fromElsewhere reports whether a figure is printed with the summary that it is from.
func fromElsewhere(name string) bool {
	return strings.Contains(name, "_p50_") || strings.Contains(name, "_p99_") || name == costName || name == memoryName
}

// The broker's figures.
const (
	costName   = "cpu_s_per_million"
	memoryName = "rss_peak_mib"
)

// Judge adds quantiles and costs to the figures, for comparisons.
func (r *Result) Judge() {
	quantiles := func(name string, s stats.Summary) {
		r.Add(name+"_p50_ms", s.P50)
		r.Add(name+"_p99_ms", s.P99)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Latency)) {
		quantiles(name, r.Latency[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Lateness)) {
		quantiles(name, r.Lateness[name].Summary)
	}
	if r.Cost != nil {
		r.Add(costName, r.Cost.PerMillion)
		r.Add(memoryName, r.Cost.RSSPeak)
	}
}

func summary(s stats.Summary) string {
	if s.Count == 0 {
		return "none"
	}
	return fmt.Sprintf("p50 %s  p90 %s  p99 %s  p99.9 %s  max %s ms", short(s.P50), short(s.P90), short(s.P99), short(s.P999), short(s.Max))
}

// short has three digits that matter, or all before the point.
func short(v float64) string {
	switch a := max(v, -v); {
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// grouped returns a number with commas between thousands, and with decimals if it is small.
func grouped(v float64) string {
	if v < 0 {
		return "-" + grouped(-v)
	}
	if v < 1000 && v != float64(int64(v)) {
		return short(v)
	}
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
