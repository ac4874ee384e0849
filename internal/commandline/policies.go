package commandline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"candlemark/internal/httpapi/client"
	"candlemark/policies"
)

var policyVerbs = append(policyVerbsOf(false), policyVerbsOf(true)...)

func policyVerbsOf(operator bool) []verb {
	infix, set, clear, list := "", "policy", "policy", "policies"
	about := struct{ set, clear, list string }{
		"Sets or replaces a policy", "Removes a policy", "Lists the policies of a virtual host",
	}
	if operator {
		about.set, about.clear = "Sets or replaces an operator policy, which limits what policies may say", "Removes an operator policy"
		about.list = "Lists the operator policies of a virtual host"
		infix, set, clear, list = "operator_", "operator policy override", "operator policy", "operator policy overrides"
	}
	return []verb{
		{
			name: "set_" + infix + "policy", about: about.set, arguments: "<name> <pattern> <definition>", options: "priority apply-to",
			title: text("Setting " + set + ` "{name}" for pattern "{pattern}" to "{definition}" with priority "{priority}" for vhost "{vhost}" ...`),
			run:   setPolicy(operator),
		},
		{
			name: "clear_" + infix + "policy", about: about.clear, arguments: "<name>", title: text("Clearing " + clear + ` "{name}" on vhost "{vhost}" ...`),
			run: action(func(ctx context.Context, broker *client.Client, c *call) error {
				return broker.ClearPolicy(ctx, c.vhost, c.arguments[0], operator)
			}).ifMissing(complaint("Parameter does not exist")),
		},
		{
			name: "list_" + infix + "policies", about: about.list, options: "no-table-headers", title: text("Listing " + list + ` for vhost "{vhost}" ...`),
			run: policiesListed(operator).table("vhost", "name", "pattern", "apply-to", "definition", "priority"),
		},
	}
}

func setPolicy(operator bool) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		p, err := policyOf(c)
		if err != nil {
			return err
		}
		return broker.SetPolicy(ctx, p, operator)
	}
}

// policyOf is the policy of a command line.
func policyOf(c *call) (client.Policy, error) {
	// Read here as well, because rabbitmqctl names the byte that is wrong.
	definition, err := policies.ParseDefinition([]byte(c.arguments[2]))
	var invalid *policies.ValidationError
	switch {
	case errors.As(err, &invalid):
		return client.Policy{}, complaint(invalid.Reason())
	case err != nil:
		return client.Policy{}, complaint(err.Error())
	}
	return client.Policy{
		VHost: c.vhost, Name: c.arguments[0], Pattern: c.arguments[1], ApplyTo: c.applyTo,
		Definition: []byte(definition.String()), Priority: json.Number(strconv.Itoa(c.priority)),
	}, nil
}

func policiesListed(operator bool) rows {
	return func(ctx context.Context, broker *client.Client, c *call) ([]client.Object, error) {
		list, err := broker.ListPolicies(ctx, c.vhost, operator)
		if err != nil {
			return nil, err
		}
		rows := make([]client.Object, len(list))
		for i, p := range list {
			var definition bytes.Buffer
			if err := json.Compact(&definition, p.Definition); err != nil {
				return nil, err
			}
			rows[i] = client.Object{
				"vhost": p.VHost, "name": p.Name, "pattern": p.Pattern, "apply-to": p.ApplyTo,
				"definition": definition.String(), "priority": p.Priority, // the definition is text, in JSON too (POL-17)
			}
		}
		return rows, nil
	}
}
