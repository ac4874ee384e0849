package format

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"candlemark/internal/text/erlang"
	"candlemark/internal/text/jsonencode"
)

// List has the rows that a verb shows.
type List struct {
	Columns []string
	// Header: the names of the columns are wanted.
	Header bool
	Rows   []map[string]any
}

// Lists write a list in the form of their name, as rabbitmqctl does.
var Lists = map[string]func(out io.Writer, l List) error{"json": writeJSON, "table": writeTabs, "csv": writeCSV, "pretty_table": writeBoxes}

// cells returns the lines of a list, with the header if it is wanted.
func (l List) cells() (lines [][]string) {
	if l.Header && len(l.Rows) > 0 {
		lines = append(lines, l.Columns)
	}
	for _, o := range l.Rows {
		line := make([]string, len(l.Columns))
		for i, column := range l.Columns {
			line[i] = Cell(o[column])
		}
		lines = append(lines, line)
	}
	return lines
}

func writeTabs(out io.Writer, l List) error {
	for _, line := range l.cells() {
		fmt.Fprintln(out, strings.Join(line, "\t"))
	}
	return nil
}

// writeCSV puts quotation marks around every value, as rabbitmqctl.
func writeCSV(out io.Writer, l List) error {
	for _, line := range l.cells() {
		quoted := make([]string, len(line))
		for i, text := range line {
			quoted[i] = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		if _, err := io.WriteString(out, strings.Join(quoted, ",")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// writeBoxes draws lines around everything.
func writeBoxes(out io.Writer, l List) error {
	lines := l.cells()
	widths := make([]int, len(l.Columns))
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
		fmt.Fprintln(out, left+strings.Join(bars, middle)+right)
	}
	for n, line := range lines {
		if n == 0 {
			rule("┌", "┬", "┐")
		} else {
			rule("├", "┼", "┤")
		}
		for i, text := range line {
			fmt.Fprint(out, "│ "+text+strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+1))
		}
		fmt.Fprintln(out, "│")
	}
	if len(lines) > 0 {
		rule("└", "┴", "┘")
	}
	return nil
}

// writeJSON writes the columns in their order, each once.
func writeJSON(out io.Writer, l List) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, o := range l.Rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for j, column := range l.Columns {
			if slices.Contains(l.Columns[:j], column) {
				continue
			}
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q:", column)
			b.Write(jsonencode.Marshal(o[column]))
		}
		b.WriteByte('}')
	}
	b.WriteString("]\n")
	_, err := out.Write(b.Bytes())
	return err
}

// Cell returns a value as rabbitmqctl shows it: a text unquoted, a missing value as nothing, a table in Erlang's
// syntax.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = Cell(v[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return term(v)
}

// term returns a value in Erlang's notation.
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
