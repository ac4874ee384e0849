package format

import (
	"fmt"
	"io"
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
