package commandline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"candlemark/internal/httpapi/client"
	"candlemark/policies"
)

func setPolicyVerb(operator bool) verb {
	what := "policy"
	if operator {
		what = "operator policy override"
	}
	return verb{
		arguments: []string{"name", "pattern", "definition"},
		options:   []string{"priority", "apply-to"},
		banner: func(c *call) string {
			return fmt.Sprintf("Setting %s \"%s\" for pattern \"%s\" to \"%s\" with priority \"%d\" for vhost \"%s\" ...",
				what, c.arguments[0], c.arguments[1], c.arguments[2], c.priority, c.vhost)
		},
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			// Read here as well, because rabbitmqctl names the byte that is wrong.
			definition, err := policies.ParseDefinition([]byte(c.arguments[2]))
			var invalid *policies.ValidationError
			switch {
			case errors.As(err, &invalid):
				return complaint(invalid.Reason())
			case err != nil:
				return complaint(err.Error())
			}
			return broker.SetPolicy(ctx, client.Policy{
				VHost: c.vhost, Name: c.arguments[0], Pattern: c.arguments[1], ApplyTo: c.applyTo,
				Definition: []byte(definition.String()), Priority: json.Number(strconv.Itoa(c.priority)),
			}, operator)
		},
	}
}

func clearPolicyVerb(operator bool) verb {
	what := "policy"
	if operator {
		what = "operator policy"
	}
	return verb{
		arguments: []string{"name"},
		banner: func(c *call) string {
			return fmt.Sprintf("Clearing %s \"%s\" on vhost \"%s\" ...", what, c.arguments[0], c.vhost)
		},
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			err := broker.ClearPolicy(ctx, c.vhost, c.arguments[0], operator)
			if isMissing(err) {
				return complaint("Parameter does not exist")
			}
			return err
		},
	}
}

func listPoliciesVerb(operator bool) verb {
	what := "policies"
	if operator {
		what = "operator policy overrides"
	}
	return verb{
		options: []string{"no-table-headers"},
		banner:  func(c *call) string { return fmt.Sprintf("Listing %s for vhost \"%s\" ...", what, c.vhost) },
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			list, err := broker.ListPolicies(ctx, c.vhost, operator)
			if err != nil {
				return err
			}
			rows := make([]client.Object, len(list))
			for i, p := range list {
				var definition bytes.Buffer
				if err := json.Compact(&definition, p.Definition); err != nil {
					return err
				}
				rows[i] = client.Object{
					"vhost": p.VHost, "name": p.Name, "pattern": p.Pattern, "apply-to": p.ApplyTo,
					"definition": definition.String(), "priority": p.Priority, // the definition is text, in JSON too (POL-17)
				}
			}
			return c.printTable([]string{"vhost", "name", "pattern", "apply-to", "definition", "priority"}, rows)
		},
	}
}
