package commandline

import (
	"context"
	"encoding/json"

	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

var effectVerbs = []verb{
	{
		name: "explain_policy", about: "Says why a queue has the policies that it has, and where each of its settings is from", arguments: "<queue>",
		options: "exchange no-table-headers", title: titled("Explaining the policies"),
		run: shown(of("policy"),
			format.Section{List: "candidates", Above: "Policies that might apply:", Columns: "operator name priority apply-to pattern applies why"},
			format.Section{List: "settings", Above: "Settings:", Columns: "key value source argument policy operator_policy note"}),
	},
}

// of asks about the queue or exchange.
func of(path ...string) func(context.Context, *client.Client, *call) (client.Object, error) {
	return func(ctx context.Context, broker *client.Client, c *call) (client.Object, error) {
		return broker.Get(ctx, c.of(path...)...)
	}
}

// shown writes an object: all of it in JSON, else its lists.
func shown(get func(context.Context, *client.Client, *call) (client.Object, error), sections ...format.Section) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		o, err := get(ctx, broker, c)
		if err != nil {
			return missing(err)
		}
		if c.json {
			return json.NewEncoder(c.out).Encode(o)
		}
		return format.Sections(c.out, c.formatter, o, c.headers, !c.quiet && !c.silent, sections)
	}
}
