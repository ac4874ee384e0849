package commandline

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var vhostVerbs = []verb.Row{
	{
		Name: "add_vhost", About: "Creates a virtual host", Arguments: "<vhost>", Options: "description tags default-queue-type",
		Title: verb.Text(`Adding vhost "{vhost}" ...`), Run: addVHost,
	},
	{Name: "delete_vhost", About: "Deletes a virtual host with everything in it, and says how many messages that were", Arguments: "<vhost>", Title: verb.Text(`Deleting vhost "{vhost}" ...`), Run: deleteVHost},
	{
		Name: "enable_vhost_deletion_protection", About: "Protects a virtual host from deletion", Arguments: "<vhost>",
		Title: verb.Text(`Protecting virtual host "{vhost}" from removal by updating its metadata...`), Run: verb.Posts("vhosts", "{vhost}", "deletion", "protection"),
	},
	{
		Name: "disable_vhost_deletion_protection", About: "Removes the deletion protection of a virtual host", Arguments: "<vhost>",
		Title: verb.Text(`Removing deletion protection from virtual host "{vhost}" by updating its metadata...`), Run: verb.Deletes("vhosts", "{vhost}", "deletion", "protection"),
	},
	{
		Name: "update_vhost_metadata", About: "Changes the description, tags or default queue type of a virtual host",
		Arguments: "<vhost>", Options: "description tags default-queue-type",
		Title: verb.Text(`Updating metadata of vhost "{vhost}" ...`), Run: updateVHost,
	},
	{
		Name: "list_vhosts", About: "Lists virtual hosts", Options: "no-table-headers",
		Columns: "name description tags default_queue_type tracing cluster_state metadata protected_from_deletion", Defaults: "name",
		Title: verb.Text("Listing vhosts ..."), Run: verb.Listed("vhosts").Table(),
	},
}

// deleteVHost says of a protected one what rabbitmqctl does, and how many messages went with it, as far as known before.
func deleteVHost(ctx context.Context, broker *client.Client, c *verb.Call) error {
	v, err := broker.Get(ctx, "vhosts", c.Arguments[0])
	if err == nil {
		err = broker.Delete(ctx, "vhosts", c.Arguments[0])
	}
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusPreconditionFailed {
		return verb.Fail(verb.ExitData, "Cannot delete this virtual host: it is protected from deletion. To lift the protection, inspect and update its metadata")
	}
	if held, scheduled := verb.Cell(v["messages"]), verb.Cell(v["messages_scheduled"]); err == nil && (held != "0" || scheduled != "0") {
		c.Say("Virtual host was deleted with %s messages, and %s that waited for their time", held, scheduled)
	}
	return err
}

// updateVHost keeps what no option names.
func updateVHost(ctx context.Context, broker *client.Client, c *verb.Call) error {
	name := c.Arguments[0]
	o, err := broker.Get(ctx, "vhosts", name)
	if err != nil {
		return err
	}
	body := client.Object{"description": o["description"], "tags": o["tags"], "default_queue_type": o["default_queue_type"]}
	for key, given := range map[string]string{"description": c.Description, "tags": c.Tags, "default_queue_type": c.DefaultQueue} {
		if given != "" {
			body[key] = given
		}
	}
	return broker.Put(ctx, body, "vhosts", name)
}

// addVHost creates a virtual host without permissions; an existing one is unchanged.
func addVHost(ctx context.Context, broker *client.Client, c *verb.Call) error {
	name := c.Arguments[0]
	if _, err := broker.Get(ctx, "vhosts", name); !verb.IsMissing(err) {
		return err
	}
	body := map[string]string{"description": c.Description, "tags": c.Tags}
	if c.DefaultQueue != "" {
		body["default_queue_type"] = c.DefaultQueue
	}
	err := broker.Put(ctx, body, "vhosts", name)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest && strings.HasSuffix(refused.Reason, "queue type") {
		return verb.Misuse("Unsupported default queue type")
	}
	if err != nil {
		return err
	}
	// Over HTTP the creator of a virtual host gets all permissions in it.
	me, err := broker.Get(ctx, "whoami")
	if err != nil {
		return err
	}
	maker, _ := me["name"].(string)
	return broker.Delete(ctx, "permissions", name, maker)
}
