package commandline

import (
	"context"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

// keyVerbs are about access keys of Azure Service Bus.
var keyVerbs = []verb.Row{
	{
		Name: "set_access_key", Options: "vhost", About: "Creates an Azure Service Bus access key or changes its rights: listen, send, manage", Arguments: "<name> <right> [...]",
		Title: verb.Text(`Setting access key "{name}" in vhost "{vhost}" ...`),
		Run: func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			return broker.Put(ctx, map[string]any{"rights": c.Arguments[1:]}, c.Path([]string{"x", "access-keys", "{vhost}", "{name}"})...)
		},
	},
	{
		Name: "list_access_keys", About: "Lists Azure Service Bus access keys, with primary and secondary key", Options: "vhost no-table-headers",
		Title: verb.Text(`Listing access keys of vhost "{vhost}" ...`),
		Run:   verb.Listed("x", "access-keys", "{vhost}").Table("name", "rights", "primary_key", "secondary_key"),
	},
	{
		Name: "rotate_access_key", Options: "vhost", About: "Replaces the primary or secondary key of an access key", Arguments: "<name> <key>",
		Title: verb.Text(`Replacing the {key} key of "{name}" in vhost "{vhost}" ...`),
		Run: func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			_, err := broker.Change(ctx, "POST", nil, map[string]string{"key": c.Arguments[1]},
				c.Path([]string{"x", "access-keys", "{vhost}", "{name}", "rotate"})...)
			return err
		},
	},
	{
		Name: "delete_access_key", Options: "vhost", About: "Deletes an access key and closes its connections", Arguments: "<name>",
		Title: verb.Text(`Deleting access key "{name}" of vhost "{vhost}" ...`),
		Run:   verb.Deletes("x", "access-keys", "{vhost}", "{name}"),
	},
}
