package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// timetable is the outcome of the show: the same lines for every broker.
type timetable struct {
	brokers  []string
	columns  []column // one per broker, as all others
	machines []*metronome
}

// print writes aligned plain text.
func (t *timetable) print(out io.Writer) {
	head := []string{"what", "expected"}
	for _, b := range t.brokers {
		head = append(head, b, "")
	}
	rows := [][]string{head}
	i := 0
	for _, a := range acts {
		for _, l := range a.lines {
			row := []string{l.what, l.expected}
			for _, c := range t.columns {
				row = append(row, c[i].observed, string(c[i].verdict))
			}
			rows = append(rows, row)
			i++
		}
	}
	widths := make([]int, len(head))
	for _, row := range rows {
		for k, cell := range row {
			widths[k] = max(widths[k], utf8.RuneCountInString(cell))
		}
	}
	fmt.Fprintln(out)
	for _, row := range rows {
		var b strings.Builder
		for k, cell := range row {
			b.WriteString(cell + strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell)+2))
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
	fmt.Fprintln(out)
	for i, m := range t.machines {
		p99, worst := m.soFar()
		fmt.Fprintf(out, "%s: timers of this machine fired late by %s (p99) to %s (max). A time above its limit by at most %d such delays is no failure, but \"%s\".\n",
			t.brokers[i], ms(p99), ms(worst), wakings, busy)
	}
	fmt.Fprintln(out, t.summary())
}

// passed reports whether the first broker did everything as expected.
func (t *timetable) passed() bool { return t.columns[0].count(fail) == 0 }

func (t *timetable) summary() string {
	parts := make([]string, len(t.brokers))
	for i, b := range t.brokers {
		parts[i] = fmt.Sprintf("%s: %d of %d lines differ", b, t.columns[i].count(fail), len(t.columns[i]))
		if t.columns[i].count(fail) == 0 {
			parts[i] = fmt.Sprintf("%s: as expected", b)
		}
		if n := t.columns[i].count(busy); n > 0 {
			parts[i] += fmt.Sprintf(", machine too busy for %d of %d lines", n, len(t.columns[i]))
		}
	}
	return strings.Join(parts, "; ") + "."
}

// count returns the number of lines with a verdict.
func (c column) count(v verdict) int {
	n := 0
	for _, f := range c {
		if f.verdict == v {
			n++
		}
	}
	return n
}
