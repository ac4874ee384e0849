package format

import (
	"fmt"
	"io"
	"maps"
	"strings"
)

// Section is a list in an object, with the line above it and its columns.
type Section struct{ List, Above, Columns string }

// Sections write lists of an object one below the other, in the form of a list; above says that the lines above are wanted.
func Sections(out io.Writer, form string, o map[string]any, header, above bool, sections []Section) error {
	for _, s := range sections {
		items, _ := o[s.List].([]any)
		rows := make([]map[string]any, len(items))
		for i := range items {
			rows[i], _ = items[i].(map[string]any)
		}
		if above {
			fmt.Fprintln(out, s.Above)
		}
		if err := Lists[form](out, List{Columns: strings.Fields(s.Columns), Header: header, Rows: rows}); err != nil {
			return err
		}
	}
	return nil
}

// Preview adds what tables show of a preview of policies.
func Preview(o map[string]any) {
	totals := map[string]any{}
	maps.Copy(totals, o)
	if m, ok := o["messages"].(map[string]any); ok {
		maps.Copy(totals, m)
	}
	o["totals"] = []any{totals}
	items, _ := o["items"].([]any)
	for _, item := range items {
		i, _ := item.(map[string]any)
		list, _ := i["settings"].([]any)
		var words []string
		for _, s := range list {
			change, _ := s.(map[string]any)
			words = append(words, fmt.Sprintf("%v: %s -> %s", change["key"], orNone(change["before"]), orNone(change["after"])))
		}
		i["changes"] = strings.Join(words, ", ")
	}
}

func orNone(v any) string {
	if v == nil {
		return "none"
	}
	return Cell(v)
}
