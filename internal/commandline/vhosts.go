package commandline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"candlemark/internal/httpapi/client"
)

// addVHostVerb makes a virtual host in which nobody may do anything yet; one that
// is there stays as it is.
var addVHostVerb = verb{
	arguments: []string{"vhost"}, options: []string{"description", "tags", "default-queue-type"},
	banner: func(c *call) string { return fmt.Sprintf("Adding vhost \"%s\" ...", c.arguments[0]) },
	run:    addVHost,
}

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

var deleteVHostVerb = verb{
	arguments: []string{"vhost"},
	banner:    func(c *call) string { return fmt.Sprintf("Deleting vhost \"%s\" ...", c.arguments[0]) },
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		c.vhost = c.arguments[0]
		return broker.Delete(ctx, "vhosts", c.vhost)
	},
}

var listVHostsVerb = table{
	columns:  strings.Fields("name description tags default_queue_type tracing cluster_state metadata"),
	defaults: []string{"name"},
	banner:   func(*call) string { return "Listing vhosts ..." },
	path:     all("vhosts"),
}.verb()
