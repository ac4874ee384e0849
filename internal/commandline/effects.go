package commandline

import (
	"context"
	"encoding/json"
	"slices"

	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

var effectVerbs = slices.Concat(previewVerbs(false), previewVerbs(true), []verb{
	{
		name: "explain_policy", about: "Says why a queue has the policies that it has, and where each of its settings is from", arguments: "<queue>",
		options: "exchange no-table-headers", title: titled("Explaining the policies"),
		run: shown(of("policy"),
			format.Section{List: "candidates", Above: "Policies that might apply:", Columns: "operator name priority apply-to pattern applies why"},
			format.Section{List: "settings", Above: "Settings:", Columns: "key value source argument policy operator_policy note"}),
	},
})

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

// previewVerbs show what a change would do.
func previewVerbs(operator bool) []verb {
	infix, kind := "", "policy"
	if operator {
		infix, kind = "operator_", "operator policy"
	}
	sections := []format.Section{
		{List: "totals", Above: "Changes:", Columns: "objects queues exchanges replaces retimed expire_at_once at_most dropped_at_once earliest_deadline queues_unanswered"},
		{List: "loses", Above: "Policies that are lost:", Columns: "operator name objects"},
		{List: "settings", Above: "Settings that change:", Columns: "name objects"},
		{List: "items", Above: "Objects:", Columns: "kind name policy operator_policy loses_policy loses_operator_policy changes retimed expire_at_once dropped_at_once earliest_deadline"},
	}
	return []verb{
		{
			name: "preview_" + infix + "policy", about: "Says what setting " + kind + " would do, and changes nothing",
			arguments: "<name> <pattern> <definition>", options: "priority apply-to no-table-headers",
			title: text("Previewing " + kind + ` "{name}" for vhost "{vhost}" ...`),
			run:   shown(previewed(operator, func(c *call) (any, error) { return policyOf(c) }), sections...),
		},
		{
			name: "preview_clear_" + infix + "policy", about: "Says what clearing " + kind + " would do, and changes nothing",
			arguments: "<name>", options: "no-table-headers", title: text("Previewing the end of " + kind + ` "{name}" on vhost "{vhost}" ...`),
			run: shown(previewed(operator, func(*call) (any, error) { return map[string]bool{"clear": true}, nil }), sections...),
		},
	}
}

// previewed asks what a change would do.
func previewed(operator bool, body func(*call) (any, error)) func(context.Context, *client.Client, *call) (client.Object, error) {
	return func(ctx context.Context, broker *client.Client, c *call) (client.Object, error) {
		content, err := body(c)
		if err != nil {
			return nil, err
		}
		o, err := broker.Preview(ctx, c.vhost, c.arguments[0], content, operator)
		if err == nil && !c.json {
			format.Preview(o)
		}
		return o, err
	}
}
