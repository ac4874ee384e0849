package commandline

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var messageVerbs = []verb.Row{
	{
		Name: "peek", About: "Shows messages of a queue with their deadlines, without consuming them", Arguments: "<queue>", Options: "vhost no-table-headers state order truncate limit",
		Columns: `id state enqueued_at expires_at due lock_expires_at redelivered delivery_count priority exchange routing_key
			properties payload_bytes payload payload_encoding`,
		Defaults: "id state expires_at redelivered routing_key payload_bytes payload",
		Title:    verb.Titled("Peeking at messages"), Run: paged("messages", "messages", peekQuery).Table(),
	},
	{
		Name: "list_unacked", About: "Lists unacknowledged deliveries of a queue and when their locks expire", Arguments: "<queue>", Options: "vhost no-table-headers limit",
		Columns: `id consumer_tag channel connection delivery_tag delivered_at lock_expires_at expires_at payload_bytes
			delivery_count redelivered`,
		Defaults: "id consumer_tag channel delivery_tag delivered_at lock_expires_at",
		Title:    verb.Titled("Listing unacknowledged deliveries"),
		Run: paged("unacked", "deliveries", nil).With(func(o client.Object) {
			o["connection"] = format.Inside(o, "connection_details", "name")
		}).Table(),
	},
	{
		Name: "list_scheduled", About: "Lists scheduled messages", Arguments: "<queue>", Options: "vhost no-table-headers exchange limit",
		Columns:  "id due enqueued_at message_id exchange routing_key payload_bytes persistent priority",
		Defaults: "id due message_id routing_key payload_bytes",
		Title:    verb.Titled("Listing scheduled messages"), Run: paged("scheduled", "messages", nil).Table(),
	},
	{
		Name: "count_scheduled", About: "Counts scheduled messages", Arguments: "<queue>", Options: "vhost exchange no-table-headers",
		Title: verb.Titled("Counting scheduled messages"), Run: countScheduled,
	},
	{Name: "renew_lock", Options: "vhost", About: "Renews the lock of a delivery (restarts its consumer timeout)", Arguments: "<queue> <id>", Title: verb.Titled("Renewing the lock of message {id}"), Run: renewLock},
	{Name: "return_lock", Options: "vhost", About: "Requeues a message that a consumer has locked", Arguments: "<queue> <id>", Title: verb.Titled("Returning message {id}"), Run: returnLock},
	{
		Name: "cancel_scheduled", About: "Cancels scheduled messages", Arguments: "<queue> [<id>]", Options: "vhost exchange " + whichScheduled,
		Title: verb.Titled("Cancelling scheduled messages"), Run: cancelScheduled,
	},
	{
		Name: "reschedule", About: "Reschedules scheduled messages", Arguments: "<queue> [<id>] [<due>]", Options: "vhost exchange delay " + whichScheduled,
		Title: verb.Titled("Rescheduling messages"), Run: reschedule,
	},
}

// whichScheduled are the options that select scheduled messages.
const whichScheduled = "message-id correlation-id headers due-after due-before retries dry-run"

// listedMessages is how many messages are listed unless --limit says otherwise,
// shownBytes how much of each body a table has unless --truncate does.
const (
	listedMessages = 100
	shownBytes     = 60
)

// paged lists the items that the API returns page by page for the queue or exchange; query is nil for none.
func paged(path, items string, query func(c *verb.Call) map[string]string) verb.Rows {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) ([]client.Object, error) {
		listing := client.Listing{Path: c.Of(path), Items: items}
		if query != nil {
			listing.Query = query(c)
		}
		limit := c.Limit
		if limit <= 0 {
			limit = listedMessages
		}
		list, err := broker.Pages(ctx, listing, limit)
		for _, o := range list {
			if text, ok := o["payload"].(string); ok && !c.JSON {
				o["payload"] = strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(text)
			}
		}
		return list, verb.Missing(err)
	}
}

func peekQuery(c *verb.Call) map[string]string {
	query := map[string]string{"state": c.State, "order": c.Order}
	switch {
	case c.Truncate >= 0:
		query["truncate"] = strconv.Itoa(c.Truncate)
	case !c.JSON:
		query["truncate"] = strconv.Itoa(shownBytes)
	}
	return query
}

func countScheduled(ctx context.Context, broker *client.Client, c *verb.Call) error {
	o, err := broker.Get(ctx, c.Of("scheduled", "counts")...)
	if err != nil {
		return verb.Missing(err)
	}
	due := strings.Fields("within_1s within_1m within_1h within_1d later")
	for _, name := range due {
		o[name] = format.Inside(o, "histogram", name)
	}
	return c.PrintTable(append(strings.Fields("count payload_bytes next_due overdue"), due...), []client.Object{o})
}

func renewLock(ctx context.Context, broker *client.Client, c *verb.Call) error {
	o, err := broker.Change(ctx, http.MethodPost, nil, nil, c.Of("unacked", c.Arguments[1], "renew")...)
	if err != nil {
		return verb.Missing(err)
	}
	if until := verb.Cell(o["lock_expires_at"]); until != "" {
		c.Say("The message is locked until %s", until)
	} else {
		c.Say("The message is locked without a time limit")
	}
	return nil
}

func returnLock(ctx context.Context, broker *client.Client, c *verb.Call) error {
	_, err := broker.Change(ctx, http.MethodPost, nil, nil, c.Of("unacked", c.Arguments[1], "return")...)
	return verb.Missing(err)
}

func cancelScheduled(ctx context.Context, broker *client.Client, c *verb.Call) error {
	path, query, err := scheduled(c, 1, "an id or a condition such as --message-id is required")
	if err != nil {
		return err
	}
	o, err := broker.Change(ctx, http.MethodDelete, query, nil, path...)
	if err != nil {
		return verb.Missing(err)
	}
	if c.DryRun {
		c.Say("%s messages would be cancelled%s", verb.Cell(o["matched"]), unreadable(o))
		return nil
	}
	c.Say("Cancelled %s messages%s", verb.Cell(o["cancelled"]), unreadable(o))
	return nil
}

func reschedule(ctx context.Context, broker *client.Client, c *verb.Call) error {
	path, query, err := scheduled(c, 2, "an id or a condition such as --message-id, and a time, are required")
	if err != nil {
		return err
	}
	name, to := "due", c.Arguments[len(c.Arguments)-1]
	if c.Delay {
		name = "delay"
		if d, err := time.ParseDuration(to); err == nil {
			to = strconv.FormatInt(d.Milliseconds(), 10)
		}
	}
	o, err := broker.Change(ctx, http.MethodPut, query, map[string]string{name: to}, path...)
	if err != nil {
		return verb.Missing(err)
	}
	if c.DryRun {
		c.Say("%s messages would be rescheduled, due %s%s", verb.Cell(o["matched"]), verb.Cell(o["due"]), unreadable(o))
		return nil
	}
	c.Say("Rescheduled %s messages, due %s%s", verb.Cell(o["rescheduled"]), verb.Cell(o["due"]), unreadable(o))
	return nil
}

// unreadable returns the number of messages that could not be judged, "" for none.
func unreadable(o client.Object) string {
	if n := verb.Cell(o["unreadable"]); n != "" {
		return "; " + n + " messages cannot be read at present and were left out"
	}
	return ""
}

// scheduled returns the path, and the query, that names scheduled messages: by the number after the queue or by
// conditions. So many arguments follow the queue with a number, one less without; wanted says which.
func scheduled(c *verb.Call, arguments int, wanted string) (path []string, query map[string]string, err error) {
	query = map[string]string{}
	for option := range strings.FieldsSeq(whichScheduled) {
		if c.Given(option) {
			query[strings.ReplaceAll(option, "-", "_")] = c.Lookup(option).Value.String()
		}
	}
	if len(query) > 0 {
		arguments--
		path = c.Of("scheduled")
	} else if len(c.Arguments) > 1 {
		path = c.Of("scheduled", c.Arguments[1])
	}
	switch n := len(c.Arguments) - 1; {
	case n < arguments:
		return nil, nil, verb.Misuse("not enough arguments: " + wanted)
	case n > arguments:
		return nil, nil, verb.Misuse("too many arguments.")
	}
	return path, query, nil
}
