package commandline

import (
	"context"
	"net/http"
	"strconv"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var waitingVerbs = []verb.Row{
	{
		Name: "list_expiring", About: "Lists queues with expiring messages and their numbers by time left, by next deadline", Options: "vhost no-table-headers limit",
		Columns:  "name vhost messages_expiring next_expiry within_1s within_1m within_1h within_1d later",
		Defaults: "name next_expiry messages_expiring within_1s within_1m within_1h within_1d later",
		Title:    verb.Text("Listing queues with messages that expire for vhost {vhost} ..."),
		Run: inPages("expirations", "queues").With(func(o client.Object) {
			for _, class := range []string{"within_1s", "within_1m", "within_1h", "within_1d", "later"} {
				o[class] = format.Inside(o, "expiry_histogram", class)
			}
		}).Table(),
	},
	{
		Name: "list_leases", About: "Lists queues with a queue TTL, by expiry", Options: "vhost no-table-headers limit",
		Columns:  "name vhost expires_after_ms lease_expires_at lease_renewed_at lease_renewed_by consumers messages",
		Defaults: "name lease_expires_at lease_renewed_by lease_renewed_at",
		Title:    verb.Text("Listing queues with a lease for vhost {vhost} ..."),
		Run:      inPages("leases", "").Table(),
	},
}

// pageSize is how many items the API lists on a page at most.
const pageSize = 500

// inPages returns the first items of a list of queues that comes in pages, within an object if that has a name.
func inPages(path, within string) verb.Rows {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) (list []client.Object, err error) {
		limit := c.Limit
		if limit <= 0 {
			limit = listedMessages
		}
		for page := 1; ; page++ {
			query := map[string]string{"page": strconv.Itoa(page), "page_size": strconv.Itoa(min(limit, pageSize))}
			o, err := broker.Change(ctx, http.MethodGet, query, nil, c.Path([]string{"x", path, "{vhost}"})...)
			if err != nil {
				return nil, err
			}
			if within != "" {
				o, _ = o[within].(map[string]any)
			}
			items, _ := o["items"].([]any)
			for _, item := range items {
				if o, is := item.(map[string]any); is && len(list) < limit {
					list = append(list, o)
				}
			}
			if len(items) < min(limit, pageSize) || len(list) == limit {
				return list, nil
			}
		}
	}
}
