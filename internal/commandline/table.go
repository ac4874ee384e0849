package commandline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"candlemark/internal/erlang"
	"candlemark/internal/httpapi/client"
	"candlemark/internal/plainjson"
)

// printTable writes a list as rabbitmqctl does.
func (c *call) printTable(columns []string, list []client.Object) error {
	if c.json {
		return c.printJSON(columns, list)
	}
	if c.headers && len(list) > 0 {
		fmt.Fprintln(c.out, strings.Join(columns, "\t"))
	}
	for _, o := range list {
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = cell(o[column])
		}
		fmt.Fprintln(c.out, strings.Join(cells, "\t"))
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
