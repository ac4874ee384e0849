package commandline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
	"candlemark/policies"
)

var policyVerbs = append(policyVerbsOf(false), policyVerbsOf(true)...)

func policyVerbsOf(operator bool) []verb.Row {
	infix, set, clear, list := "", "policy", "policy", "policies"
	about := struct{ set, clear, list string }{
		"Sets or replaces a policy", "Removes a policy", "Lists the policies of a virtual host",
	}
	if operator {
		about.set, about.clear = "Sets or replaces an operator policy", "Removes an operator policy"
		about.list = "Lists the operator policies of a virtual host"
		infix, set, clear, list = "operator_", "operator policy override", "operator policy", "operator policy overrides"
	}
	return []verb.Row{
		{
			Name: "set_" + infix + "policy", About: about.set, Arguments: "<name> <pattern> <definition>", Options: "vhost priority apply-to",
			Title: verb.Text("Setting " + set + ` "{name}" for pattern "{pattern}" to "{definition}" with priority "{priority}" for vhost "{vhost}" ...`),
			Run:   setPolicy(operator),
		},
		{
			Name: "clear_" + infix + "policy", Options: "vhost", About: about.clear, Arguments: "<name>", Title: verb.Text("Clearing " + clear + ` "{name}" on vhost "{vhost}" ...`),
			Run: verb.Action(func(ctx context.Context, broker *client.Client, c *verb.Call) error {
				return broker.ClearPolicy(ctx, c.VHost, c.Arguments[0], operator)
			}).IfMissing(verb.Complaint("Parameter does not exist")),
		},
		{
			Name: "list_" + infix + "policies", About: about.list, Options: "vhost no-table-headers", Title: verb.Text("Listing " + list + ` for vhost "{vhost}" ...`),
			Run: policiesListed(operator).Table("vhost", "name", "pattern", "apply-to", "definition", "priority"),
		},
	}
}

func setPolicy(operator bool) verb.Action {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) error {
		p, err := policyOf(c)
		if err != nil {
			return err
		}
		if err := broker.SetPolicy(ctx, p, operator); err != nil {
			return err
		}
		// Brokers other than ours have no previews; the policy is set in any case.
		ctx, cancel := context.WithTimeout(ctx, reachWait)
		defer cancel()
		if reach, err := broker.Preview(ctx, p.VHost, p.Name, p, operator); err == nil && !c.Silent {
			if warning, is := reach["warning"].(string); is {
				fmt.Fprintf(c.Err, "Warning: policy '%s' %s\n", p.Name, warning)
			}
		}
		return nil
	}
}

// reachWait is the maximum time to wait for the reach of a policy that has been set.
const reachWait = 5 * time.Second

// policyOf returns the policy of a command line.
func policyOf(c *verb.Call) (client.Policy, error) {
	// Read here as well, because rabbitmqctl names the byte that is wrong.
	definition, err := policies.ParseDefinition([]byte(c.Arguments[2]))
	var invalid *policies.ValidationError
	switch {
	case errors.As(err, &invalid):
		return client.Policy{}, verb.Complaint(invalid.Reason())
	case err != nil:
		return client.Policy{}, verb.Complaint(err.Error())
	}
	return client.Policy{
		VHost: c.VHost, Name: c.Arguments[0], Pattern: c.Arguments[1], ApplyTo: c.ApplyTo,
		Definition: []byte(definition.String()), Priority: json.Number(strconv.Itoa(c.Priority)),
	}, nil
}

func policiesListed(operator bool) verb.Rows {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) ([]client.Object, error) {
		list, err := broker.ListPolicies(ctx, c.VHost, operator)
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
