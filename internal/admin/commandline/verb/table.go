package verb

import (
	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/httpapi/client"
)

// Cell returns a value as rabbitmqctl shows it.
func Cell(v any) string { return format.Cell(v) }

// PrintTable writes a list in the form that was asked for.
func (c *Call) PrintTable(columns []string, list []client.Object) error {
	rows := make([]map[string]any, len(list))
	for i := range list {
		rows[i] = list[i]
	}
	return format.Lists[c.Formatter](c.Out, format.List{Columns: columns, Header: c.Headers, Rows: rows})
}
