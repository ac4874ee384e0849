package format

import (
	"fmt"
	"io"
	"maps"
	"strings"

	"candlemark/internal/text/jsonencode"
)

// Section is a list in an object, with the line above it, "" for none, and its columns.
type Section struct{ List, Above, Columns string }

// Sections write lists of an object one below the other, in the form of a list; above enables the lines above them.
func Sections(out io.Writer, form string, o map[string]any, header, above bool, sections []Section) error {
	for _, s := range sections {
		items, _ := o[s.List].([]any)
		rows := make([]map[string]any, len(items))
		for i := range items {
			rows[i], _ = items[i].(map[string]any)
		}
		if above && s.Above != "" {
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

// History puts what tables show of a history of policies in place of what was changed.
func History(o map[string]any) {
	list, _ := o["changes"].([]any)
	for _, item := range list {
		change, _ := item.(map[string]any)
		edits, _ := change["changed"].([]any)
		var words []string
		for _, e := range edits {
			edit, _ := e.(map[string]any)
			name := fmt.Sprint(edit["name"])
			if edit["operator"] == true {
				name = "operator policy " + name
			}
			words = append(words, fmt.Sprintf("%s: %s -> %s", name, side(edit["before"]), side(edit["after"])))
		}
		change["changed"] = strings.Join(words, ", ")
	}
}

// side returns a policy before or after a change, without its name.
func side(v any) string {
	p, is := v.(map[string]any)
	if !is {
		return "none"
	}
	p = maps.Clone(p)
	delete(p, "vhost")
	delete(p, "name")
	return string(jsonencode.Marshal(p))
}

func orNone(v any) string {
	if v == nil {
		return "none"
	}
	return Cell(v)
}
