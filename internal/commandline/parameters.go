package commandline

import (
	"context"
	"encoding/json"

	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

var parameterVerbs = []verb{
	{
		name: "set_parameter", arguments: "<component_name> <name> <value>", about: "Sets a parameter of a component",
		title: text(`Setting runtime parameter "{name}" for component "{component_name}" to "{value}" in vhost "{vhost}" ...`),
		run:   putsValue("parameters", "{component_name}", "{vhost}", "{name}"),
	},
	{
		name: "clear_parameter", arguments: "<component_name> <name>", about: "Removes a parameter of a component",
		title: text(`Clearing runtime parameter "{name}" for component "{component_name}" on vhost "{vhost}" ...`),
		run:   deletes("parameters", "{component_name}", "{vhost}", "{name}").ifMissing(complaint("Parameter does not exist")),
	},
	{
		name: "list_parameters", about: "Lists the parameters of a virtual host", options: "no-table-headers",
		title: text(`Listing runtime parameters for vhost "{vhost}" ...`),
		run:   rows(parametersListed).with(valueAsText).table("component", "name", "value"),
	},
	{
		name: "set_global_parameter", arguments: "<name> <value>", about: "Sets a global parameter",
		title: text(`Setting global runtime parameter "{name}" to "{value}" ...`), run: putsValue("global-parameters", "{name}"),
	},
	{
		name: "clear_global_parameter", arguments: "<name>", about: "Removes a global parameter",
		title: text(`Clearing global runtime parameter "{name}" ...`),
		run:   deletes("global-parameters", "{name}").ifMissing(complaint("Parameter does not exist")),
	},
	{
		name: "list_global_parameters", about: "Lists global parameters", options: "no-table-headers",
		title: text("Listing global runtime parameters ..."), run: listed("global-parameters").with(valueAsText).table("name", "value"),
	},
	{
		name: "shovel_status", about: "Lists the shovels of all virtual hosts", options: "no-table-headers", title: text("Shovel status on node {broker}"),
		run: listed("shovels").with(func(o client.Object) { format.Shovel(o) }).table(format.ShovelColumns...),
	},
	{
		name: "restart_shovel", arguments: "<name>", about: "Ends a shovel and starts it again", title: text("Restarting dynamic Shovel {name} in virtual host {vhost} on node {broker}"),
		run: deletes("shovels", "vhost", "{vhost}", "{name}", "restart").ifMissing(complaint("Shovel with the given name was not found on the target node '{broker}' and / or virtual host '{vhost}'")),
	},
	{
		name: "delete_shovel", arguments: "<name>", about: "Removes a shovel", title: text("Deleting shovel {name} in vhost {vhost}"),
		run: deletes("shovels", "vhost", "{vhost}", "{name}").ifMissing(complaint("Shovel with the given name was not found on the target node '{broker}' and / or virtual host '{vhost}'")),
	},
}

// putsValue sends the argument <value>, which is JSON, to a path.
func putsValue(path ...string) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		value := json.RawMessage(c.expand("{value}"))
		if !json.Valid(value) {
			return complaint("JSON decoding error")
		}
		return broker.Put(ctx, map[string]json.RawMessage{"value": value}, c.path(path)...)
	}
}

// parametersListed are those of the virtual host, of all components.
func parametersListed(ctx context.Context, broker *client.Client, c *call) (mine []client.Object, err error) {
	all, err := broker.List(ctx, "parameters")
	for _, o := range all {
		if o["vhost"] == c.vhost {
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
