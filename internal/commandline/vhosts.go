package commandline

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"candlemark/internal/httpapi/client"
)

var vhostVerbs = []verb{
	{
		name: "add_vhost", about: "Creates a virtual host", arguments: "<vhost>", options: "description tags default-queue-type",
		title: text(`Adding vhost "{vhost}" ...`), run: addVHost,
	},
	{name: "delete_vhost", about: "Deletes a virtual host with everything in it", arguments: "<vhost>", title: text(`Deleting vhost "{vhost}" ...`), run: deleteVHost},
	{
		name: "enable_vhost_deletion_protection", about: "Protects a virtual host from deletion, until the protection is taken away", arguments: "<vhost>",
		title: text(`Protecting virtual host "{vhost}" from removal by updating its metadata...`), run: posts("vhosts", "{vhost}", "deletion", "protection"),
	},
	{
		name: "disable_vhost_deletion_protection", about: "Takes away the protection of a virtual host from deletion", arguments: "<vhost>",
		title: text(`Removing deletion protection from virtual host "{vhost}" by updating its metadata...`), run: deletes("vhosts", "{vhost}", "deletion", "protection"),
	},
	{
		name: "update_vhost_metadata", about: "Changes the description, tags or default queue type of a virtual host",
		arguments: "<vhost>", options: "description tags default-queue-type",
		title: text(`Updating metadata of vhost "{vhost}" ...`), run: updateVHost,
	},
	{
		name: "list_vhosts", about: "Lists virtual hosts", options: "no-table-headers",
		columns: "name description tags default_queue_type tracing cluster_state metadata protected_from_deletion", defaults: "name",
		title: text("Listing vhosts ..."), run: listed("vhosts").table(),
	},
}

// deleteVHost says of a protected one what rabbitmqctl does.
func deleteVHost(ctx context.Context, broker *client.Client, c *call) error {
	err := broker.Delete(ctx, "vhosts", c.arguments[0])
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusPreconditionFailed {
		return &exit{ExitData, "Cannot delete this virtual host: it is protected from deletion. To lift the protection, inspect and update its metadata"}
	}
	return err
}

// updateVHost keeps what no option names.
func updateVHost(ctx context.Context, broker *client.Client, c *call) error {
	name := c.arguments[0]
	o, err := broker.Get(ctx, "vhosts", name)
	if err != nil {
		return err
	}
	body := client.Object{"description": o["description"], "tags": o["tags"], "default_queue_type": o["default_queue_type"]}
	for key, given := range map[string]string{"description": c.description, "tags": c.tags, "default_queue_type": c.defaultQueue} {
		if given != "" {
			body[key] = given
		}
	}
	return broker.Put(ctx, body, "vhosts", name)
}

// addVHost makes a virtual host in which nobody may do anything yet; one that
// is there stays as it is.
func addVHost(ctx context.Context, broker *client.Client, c *call) error {
	name := c.arguments[0]
	if _, err := broker.Get(ctx, "vhosts", name); !isMissing(err) {
		return err
	}
	body := map[string]string{"description": c.description, "tags": c.tags}
	if c.defaultQueue != "" {
		body["default_queue_type"] = c.defaultQueue
	}
	err := broker.Put(ctx, body, "vhosts", name)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest && strings.HasSuffix(refused.Reason, "queue type") {
		return misuse("Unsupported default queue type")
	}
	if err != nil {
		return err
	}
	// Over HTTP whoever makes one may do everything in it.
	me, err := broker.Get(ctx, "whoami")
	if err != nil {
		return err
	}
	maker, _ := me["name"].(string)
	return broker.Delete(ctx, "permissions", name, maker)
}
