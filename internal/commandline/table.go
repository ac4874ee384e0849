package commandline

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"candlemark/internal/erlang"
	"candlemark/internal/httpapi/client"
	"candlemark/internal/plainjson"
)

// formats are the forms in which lists are written.
var formats = map[string]func(c *call, columns []string, list []client.Object) error{
	"json": (*call).printJSON, "table": (*call).printTabs, "csv": (*call).printCSV, "pretty_table": (*call).printBoxes,
}

// printTable writes a list as rabbitmqctl does.
func (c *call) printTable(columns []string, list []client.Object) error {
	return formats[c.formatter](c, columns, list)
}

// cells are the lines of a list, with the header if it is wanted.
func (c *call) cells(columns []string, list []client.Object) (lines [][]string) {
	if c.headers && len(list) > 0 {
		lines = append(lines, columns)
	}
	for _, o := range list {
		line := make([]string, len(columns))
		for i, column := range columns {
			line[i] = cell(o[column])
		}
		lines = append(lines, line)
	}
	return lines
}

func (c *call) printTabs(columns []string, list []client.Object) error {
	for _, line := range c.cells(columns, list) {
		fmt.Fprintln(c.out, strings.Join(line, "\t"))
	}
	return nil
}

func (c *call) printCSV(columns []string, list []client.Object) error {
	return csv.NewWriter(c.out).WriteAll(c.cells(columns, list))
}

// printBoxes draws lines around everything.
func (c *call) printBoxes(columns []string, list []client.Object) error {
	lines := c.cells(columns, list)
	widths := make([]int, len(columns))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	rule := func(left, middle, right string) {
		bars := make([]string, len(widths))
		for i, width := range widths {
			bars[i] = strings.Repeat("─", width+2)
		}
		fmt.Fprintln(c.out, left+strings.Join(bars, middle)+right)
	}
	for n, line := range lines {
		if n == 0 {
			rule("┌", "┬", "┐")
		} else {
			rule("├", "┼", "┤")
		}
		for i, text := range line {
			fmt.Fprint(c.out, "│ "+text+strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+1))
		}
		fmt.Fprintln(c.out, "│")
	}
	if len(lines) > 0 {
		rule("└", "┴", "┘")
	}
	return nil
}

// printJSON writes the columns in their order, each once.
func (c *call) printJSON(columns []string, list []client.Object) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, o := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for j, column := range columns {
			if slices.Contains(columns[:j], column) {
				continue
			}
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q:", column)
			b.Write(plainjson.Marshal(o[column]))
		}
		b.WriteByte('}')
	}
	b.WriteString("]\n")
	_, err := c.out.Write(b.Bytes())
	return err
}

// cell is a value as rabbitmqctl shows it: a text bare, what is not there as
// nothing, a table as Erlang writes one.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = cell(v[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return term(v)
}

// term is a value in Erlang's notation.
func term(v any) string {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for i, key := range keys {
			keys[i] = "{" + erlang.String(key) + "," + term(v[key]) + "}"
		}
		return "[" + strings.Join(keys, ",") + "]"
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = term(v[i])
		}
		return "[" + strings.Join(items, ",") + "]"
	case string:
		return erlang.String(v)
	case nil:
		return "undefined"
	}
	return fmt.Sprint(v) // a number or a truth
}
