package commandline

import (
	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

// cell is a value as rabbitmqctl shows it.
func cell(v any) string { return format.Cell(v) }

// printTable writes a list in the form that was asked for.
func (c *call) printTable(columns []string, list []client.Object) error {
	rows := make([]map[string]any, len(list))
	for i := range list {
		rows[i] = list[i]
	}
	return format.Lists[c.formatter](c.out, format.List{Columns: columns, Header: c.headers, Rows: rows})
}
