package rabbitmqadmin

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// promoted are the columns that come before others.
var promoted = []string{"vhost", "name", "type", "source", "destination", "destination_type", "routing_key"}

// table has the cells of a list.
type table struct {
	columns []string
	rows    [][]string
}

// tableOf makes a table of a list of objects. Without columns the table has all columns down to depth; asJSON names
// columns with objects, which are shown as JSON.
func tableOf(list json.RawMessage, columns []string, asJSON []string, depth int) (*table, error) {
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, fmt.Errorf("unexpected answer: %w", err)
	}
	if len(columns) > 0 {
		depth = int(^uint(0) >> 1)
	}
	t, all := &table{columns: columns}, map[string]bool{}
	cells := make([]map[string]string, len(items))
	for i, item := range items {
		cells[i] = map[string]string{}
		flatten(cells[i], "", item, asJSON, depth)
		for column := range cells[i] {
			all[column] = true
		}
	}
	if len(columns) == 0 {
		t.columns = slices.SortedFunc(maps.Keys(all), func(a, b string) int {
			i, j := slices.Index(promoted, a), slices.Index(promoted, b)
			switch {
			case i >= 0 && j >= 0:
				return i - j
			case i >= 0:
				return -1
			case j >= 0:
				return 1
			}
			return strings.Compare(a, b)
		})
	}
	for i := range cells {
		row := make([]string, len(t.columns))
		for j, column := range t.columns {
			row[j] = cells[i][column]
		}
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// flatten notes the values of an object by their columns, which are paths with dots.
func flatten(cells map[string]string, prefix string, item map[string]json.RawMessage, asJSON []string, depth int) {
	for key, raw := range item {
		column := prefix + key
		switch {
		case raw[0] != '{':
			cells[column] = cell(raw)
		case slices.Contains(asJSON, key):
			cells[column] = spaced(raw)
		case depth > 1:
			var inside map[string]json.RawMessage
			if json.Unmarshal(raw, &inside) == nil {
				flatten(cells, column+".", inside, asJSON, depth-1)
			}
		}
	}
}

// Forms of output other than tables.
const (
	rawJSON    = "raw_json"
	prettyJSON = "pretty_json"
)

// forms write tables, by the name of the format. quiet: no header where that is no part of the form.
var forms = map[string]func(out io.Writer, t *table, quiet bool){"table": boxes, "tsv": tabs, "long": long, "kvp": pairs, "bash": names}

func boxes(out io.Writer, t *table, _ bool) {
	widths := make([]int, len(t.columns))
	for _, row := range append([][]string{t.columns}, t.rows...) {
		for i, text := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	bar := "+"
	for _, width := range widths {
		bar += strings.Repeat("-", width+2) + "+"
	}
	line := func(row []string, centred bool) {
		text := "|"
		for i := range row {
			left, right := 0, widths[i]-utf8.RuneCountInString(row[i])
			if centred {
				left = right / 2
				right -= left
			}
			text += " " + strings.Repeat(" ", left) + row[i] + strings.Repeat(" ", right) + " |"
		}
		fmt.Fprintln(out, text)
	}
	fmt.Fprintln(out, bar)
	line(t.columns, true)
	fmt.Fprintln(out, bar)
	for _, row := range t.rows {
		line(row, false)
	}
	fmt.Fprintln(out, bar)
}

func tabs(out io.Writer, t *table, quiet bool) {
	if !quiet {
		fmt.Fprintln(out, strings.Join(t.columns, "\t"))
	}
	for _, row := range t.rows {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
}

func long(out io.Writer, t *table, _ bool) {
	rule, width := "\n"+strings.Repeat("-", 80)+"\n", 0
	for _, column := range t.columns {
		width = max(width, utf8.RuneCountInString(column))
	}
	fmt.Fprintln(out, rule)
	for _, row := range t.rows {
		for i, column := range t.columns {
			fmt.Fprintf(out, "%*s: %s\n", width, column, row[i])
		}
		fmt.Fprintln(out, rule)
	}
}

func pairs(out io.Writer, t *table, _ bool) {
	for _, row := range t.rows {
		words := make([]string, len(row))
		for i, column := range t.columns {
			words[i] = column + `="` + row[i] + `"`
		}
		fmt.Fprintln(out, strings.Join(words, " "))
	}
}

// names are the cells of the column name, for completion.
func names(out io.Writer, t *table, _ bool) {
	i := slices.Index(t.columns, "name")
	if i < 0 {
		return
	}
	words := make([]string, len(t.rows))
	for j, row := range t.rows {
		words[j] = row[i]
	}
	fmt.Fprintln(out, strings.Join(words, " "))
}
