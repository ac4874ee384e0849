package commandline

import (
	"context"
	"encoding/json"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var parameterVerbs = []verb.Row{
	{
		Name: "set_parameter", Options: "vhost", Arguments: "<component_name> <name> <value>", About: "Sets a parameter of a component",
		Title: verb.Text(`Setting runtime parameter "{name}" for component "{component_name}" to "{value}" in vhost "{vhost}" ...`),
		Run:   putsValue("parameters", "{component_name}", "{vhost}", "{name}"),
	},
	{
		Name: "clear_parameter", Options: "vhost", Arguments: "<component_name> <name>", About: "Removes a parameter of a component",
		Title: verb.Text(`Clearing runtime parameter "{name}" for component "{component_name}" on vhost "{vhost}" ...`),
		Run:   verb.Deletes("parameters", "{component_name}", "{vhost}", "{name}").IfMissing(verb.Complaint("Parameter does not exist")),
	},
	{
		Name: "list_parameters", About: "Lists the parameters of a virtual host", Options: "vhost no-table-headers",
		Title: verb.Text(`Listing runtime parameters for vhost "{vhost}" ...`),
		Run:   verb.Rows(parametersListed).With(valueAsText).Table("component", "name", "value"),
	},
	{
		Name: "set_global_parameter", Arguments: "<name> <value>", About: "Sets a global parameter",
		Title: verb.Text(`Setting global runtime parameter "{name}" to "{value}" ...`), Run: putsValue("global-parameters", "{name}"),
	},
	{
		Name: "clear_global_parameter", Arguments: "<name>", About: "Removes a global parameter",
		Title: verb.Text(`Clearing global runtime parameter "{name}" ...`),
		Run:   verb.Deletes("global-parameters", "{name}").IfMissing(verb.Complaint("Parameter does not exist")),
	},
	{
		Name: "list_global_parameters", About: "Lists global parameters", Options: "no-table-headers",
		Title: verb.Text("Listing global runtime parameters ..."), Run: verb.Listed("global-parameters").With(valueAsText).Table("name", "value"),
	},
	{
		Name: "shovel_status", About: "Lists the shovels of all virtual hosts", Options: "no-table-headers", Title: verb.Text("Shovel status on node {broker}"),
		Run: verb.Listed("shovels").With(func(o client.Object) { format.Shovel(o) }).Table(format.ShovelColumns...),
	},
	{
		Name: "restart_shovel", Options: "vhost", Arguments: "<name>", About: "Restarts a shovel", Title: verb.Text("Restarting dynamic Shovel {name} in virtual host {vhost} on node {broker}"),
		Run: verb.Deletes("shovels", "vhost", "{vhost}", "{name}", "restart").IfMissing(verb.Complaint("Shovel with the given name was not found on the target node '{broker}' and / or virtual host '{vhost}'")),
	},
	{
		Name: "delete_shovel", Options: "vhost", Arguments: "<name>", About: "Removes a shovel", Title: verb.Text("Deleting shovel {name} in vhost {vhost}"),
		Run: verb.Deletes("shovels", "vhost", "{vhost}", "{name}").IfMissing(verb.Complaint("Shovel with the given name was not found on the target node '{broker}' and / or virtual host '{vhost}'")),
	},
}

// putsValue sends the argument <value>, which is JSON, to a path.
func putsValue(path ...string) verb.Action {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) error {
		value := json.RawMessage(c.Expand("{value}"))
		if !json.Valid(value) {
			return verb.Complaint("JSON decoding error")
		}
		return broker.Put(ctx, map[string]json.RawMessage{"value": value}, c.Path(path)...)
	}
}

// parametersListed returns the parameters of all components in the virtual host.
func parametersListed(ctx context.Context, broker *client.Client, c *verb.Call) (mine []client.Object, err error) {
	all, err := broker.List(ctx, "parameters")
	for _, o := range all {
		if o["vhost"] == c.VHost {
			mine = append(mine, o)
		}
	}
	return mine, err
}

// valueAsText shows a value as it was set.
func valueAsText(o client.Object) {
	if text, err := json.Marshal(o["value"]); err == nil {
		o["value"] = string(text)
	}
}
