package commandline

import (
	"context"
	"encoding/json"
	"slices"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var effectVerbs = slices.Concat(previewVerbs(false), previewVerbs(true), []verb.Row{
	{
		Name: "explain_policy", About: "Explains which policies apply to a queue and the source of each setting", Arguments: "<queue>",
		Options: "vhost exchange no-table-headers", Title: verb.Titled("Explaining the policies"),
		Run: shown(of("policy"),
			format.Section{List: "candidates", Above: "Policies that might apply:", Columns: "operator name priority apply-to pattern applies why"},
			format.Section{List: "settings", Above: "Settings:", Columns: "key value source argument policy operator_policy note"}),
	},
	{
		Name: "list_policy_history", About: "Lists recent changes of policies: time, user, interface, before and after", Options: "vhost no-table-headers",
		Title: verb.Text(`Listing changes of policies for vhost "{vhost}" ...`),
		Run: shown(func(ctx context.Context, broker *client.Client, c *verb.Call) (client.Object, error) {
			o, err := broker.Get(ctx, "x", "policy-history", c.VHost)
			if err == nil && !c.JSON {
				format.History(o)
			}
			return o, err
		}, format.Section{List: "changes", Columns: "id time user interface undoes policies changed"}),
	},
	{
		Name: "undo_policy_change", Options: "vhost", About: "Undoes a change of policies, if they have not changed since", Arguments: "<change>",
		Title: verb.Text(`Undoing change {change} of policies for vhost "{vhost}" ...`),
		Run: shown(func(ctx context.Context, broker *client.Client, c *verb.Call) (client.Object, error) {
			return broker.Change(ctx, "POST", nil, nil, "x", "policy-history", c.VHost, c.Arguments[0], "undo")
		}),
	},
})

// of asks about the queue or exchange.
func of(path ...string) func(context.Context, *client.Client, *verb.Call) (client.Object, error) {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) (client.Object, error) {
		return broker.Get(ctx, c.Of(path...)...)
	}
}

// shown writes an object: all of it in JSON, else its lists.
func shown(get func(context.Context, *client.Client, *verb.Call) (client.Object, error), sections ...format.Section) verb.Action {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) error {
		o, err := get(ctx, broker, c)
		if err != nil {
			return verb.Missing(err)
		}
		if c.JSON {
			return json.NewEncoder(c.Out).Encode(o)
		}
		return format.Sections(c.Out, c.Formatter, o, c.Headers, !c.Quiet && !c.Silent, sections)
	}
}

// previewVerbs show what a change would do.
func previewVerbs(operator bool) []verb.Row {
	infix, kind, one := "", "policy", "a policy"
	if operator {
		infix, kind, one = "operator_", "operator policy", "an operator policy"
	}
	sections := []format.Section{
		{List: "totals", Above: "Changes:", Columns: "objects queues exchanges matches applies replaces retimed restored expire_at_once at_most dropped_at_once earliest_deadline undoable undoable_until queues_unanswered"},
		{List: "shadowed_by", Above: "Policies that take precedence:", Columns: "operator name objects"},
		{List: "loses", Above: "Policies that no longer apply:", Columns: "operator name objects"},
		{List: "settings", Above: "Settings that change:", Columns: "name objects"},
		{List: "items", Above: "Objects:", Columns: "kind name policy operator_policy loses_policy loses_operator_policy changes retimed restored expire_at_once dropped_at_once earliest_deadline undoable undoable_until"},
	}
	return []verb.Row{
		{
			Name: "preview_" + infix + "policy", About: "Shows the effects of setting " + one + ", without changing anything",
			Arguments: "<name> <pattern> <definition>", Options: "vhost priority apply-to no-table-headers",
			Title: verb.Text("Previewing " + kind + ` "{name}" for vhost "{vhost}" ...`),
			Run:   shown(previewed(operator, func(c *verb.Call) (any, error) { return policyOf(c) }), sections...),
		},
		{
			Name: "preview_clear_" + infix + "policy", About: "Shows the effects of clearing " + one + ", without changing anything",
			Arguments: "<name>", Options: "vhost no-table-headers", Title: verb.Text("Previewing the removal of " + kind + ` "{name}" on vhost "{vhost}" ...`),
			Run: shown(previewed(operator, func(*verb.Call) (any, error) { return map[string]bool{"clear": true}, nil }), sections...),
		},
	}
}

// previewed asks what a change would do.
func previewed(operator bool, body func(*verb.Call) (any, error)) func(context.Context, *client.Client, *verb.Call) (client.Object, error) {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) (client.Object, error) {
		content, err := body(c)
		if err != nil {
			return nil, err
		}
		o, err := broker.Preview(ctx, c.VHost, c.Arguments[0], content, operator)
		if err == nil && !c.JSON {
			format.Preview(o)
		}
		return o, err
	}
}
