package commandline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

var messageVerbs = []verb{
	{
		name: "peek", about: "Shows messages of a queue with their deadlines and leaves them there", arguments: "<queue>", options: "no-table-headers state truncate limit",
		columns: `id state enqueued_at expires_at due lock_expires_at redelivered delivery_count priority exchange routing_key
			properties payload_bytes payload payload_encoding`,
		defaults: "id state expires_at redelivered routing_key payload_bytes payload",
		title:    titled("Peeking at messages"), run: paged("messages", "messages", peekQuery).table(),
	},
	{
		name: "list_unacked", about: "Lists deliveries of a queue that nobody has settled, and until when they are locked", arguments: "<queue>", options: "no-table-headers limit",
		columns: `id consumer_tag channel connection delivery_tag delivered_at lock_expires_at expires_at payload_bytes
			delivery_count redelivered`,
		defaults: "id consumer_tag channel delivery_tag delivered_at lock_expires_at",
		title:    titled("Listing unacknowledged deliveries"),
		run: paged("unacked", "deliveries", nil).with(func(o client.Object) {
			o["connection"] = format.Inside(o, "connection_details", "name")
		}).table(),
	},
	{
		name: "list_scheduled", about: "Lists messages that wait for their time", arguments: "<queue>", options: "no-table-headers exchange limit",
		columns:  "id due enqueued_at message_id exchange routing_key payload_bytes persistent priority",
		defaults: "id due message_id routing_key payload_bytes",
		title:    titled("Listing scheduled messages"), run: paged("scheduled", "messages", nil).table(),
	},
	{
		name: "count_scheduled", about: "Counts messages that wait for their time", arguments: "<queue>", options: "exchange no-table-headers",
		title: titled("Counting scheduled messages"), run: countScheduled,
	},
	{name: "renew_lock", about: "Gives a delivery its consumer timeout anew", arguments: "<queue> <id>", title: titled("Renewing the lock of message {id}"), run: renewLock},
	{
		name: "cancel_scheduled", about: "Drops messages that wait for their time", arguments: "<queue> [<id>]", options: "exchange message-id",
		title: titled("Cancelling scheduled messages"), run: cancelScheduled,
	},
	{
		name: "reschedule", about: "Gives messages that wait another time", arguments: "<queue> [<id>] [<due>]", options: "exchange message-id delay",
		title: titled("Rescheduling messages"), run: reschedule,
	},
}

// titled is a title about the queue or exchange.
func titled(what string) func(*call) string {
	return func(c *call) string { return c.expand(what) + " of " + c.what() + " ..." }
}

// listedMessages is how many messages are listed unless --limit says otherwise,
// shownBytes how much of each body a table has unless --truncate does.
const (
	listedMessages = 100
	shownBytes     = 60
)

// of is the path of the queue that is the first argument, or of the exchange.
func (c *call) of(more ...string) []string {
	kind := "queues"
	if c.exchange {
		kind = "exchanges"
	}
	return append([]string{"x", kind, c.vhost, c.arguments[0]}, more...)
}

// what is the queue or exchange in words.
func (c *call) what() string {
	if c.exchange {
		return fmt.Sprintf("exchange '%s' in vhost '%s'", c.arguments[0], c.vhost)
	}
	return fmt.Sprintf("queue '%s' in vhost '%s'", c.arguments[0], c.vhost)
}

// paged lists what the API tells page by page about the queue or exchange; query is nil for none.
func paged(path, items string, query func(c *call) map[string]string) rows {
	return func(ctx context.Context, broker *client.Client, c *call) ([]client.Object, error) {
		listing := client.Listing{Path: c.of(path), Items: items}
		if query != nil {
			listing.Query = query(c)
		}
		limit := c.limit
		if limit <= 0 {
			limit = listedMessages
		}
		list, err := broker.Pages(ctx, listing, limit)
		for _, o := range list {
			if text, ok := o["payload"].(string); ok && !c.json {
				o["payload"] = strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(text)
			}
		}
		return list, missing(err)
	}
}

func peekQuery(c *call) map[string]string {
	query := map[string]string{"state": c.state}
	switch {
	case c.truncate >= 0:
		query["truncate"] = strconv.Itoa(c.truncate)
	case !c.json:
		query["truncate"] = strconv.Itoa(shownBytes)
	}
	return query
}

// missing is err, or what the broker says is not there.
func missing(err error) error {
	if refused := (*client.Error)(nil); errors.As(err, &refused) && refused.Status == http.StatusNotFound && refused.Code == "not_found" {
		return &exit{ExitData, refused.Reason}
	}
	return err
}

func countScheduled(ctx context.Context, broker *client.Client, c *call) error {
	o, err := broker.Get(ctx, c.of("scheduled", "counts")...)
	if err != nil {
		return missing(err)
	}
	due := strings.Fields("within_1s within_1m within_1h within_1d later")
	for _, name := range due {
		o[name] = format.Inside(o, "histogram", name)
	}
	return c.printTable(append(strings.Fields("count payload_bytes next_due overdue"), due...), []client.Object{o})
}

func renewLock(ctx context.Context, broker *client.Client, c *call) error {
	o, err := broker.Change(ctx, http.MethodPost, nil, nil, c.of("unacked", c.arguments[1], "renew")...)
	if err != nil {
		return missing(err)
	}
	if until := cell(o["lock_expires_at"]); until != "" {
		c.say("It is locked until %s", until)
	} else {
		c.say("It is locked for as long as its consumer has it")
	}
	return nil
}

func cancelScheduled(ctx context.Context, broker *client.Client, c *call) error {
	path, query, err := c.scheduled(1)
	if err != nil {
		return err
	}
	o, err := broker.Change(ctx, http.MethodDelete, query, nil, path...)
	if err != nil {
		return missing(err)
	}
	c.say("Cancelled %s messages", cell(o["cancelled"]))
	return nil
}

func reschedule(ctx context.Context, broker *client.Client, c *call) error {
	path, query, err := c.scheduled(2)
	if err != nil {
		return err
	}
	name, to := "due", c.arguments[len(c.arguments)-1]
	if c.delay {
		name = "delay"
		if d, err := time.ParseDuration(to); err == nil {
			to = strconv.FormatInt(d.Milliseconds(), 10)
		}
	}
	o, err := broker.Change(ctx, http.MethodPut, query, map[string]string{name: to}, path...)
	if err != nil {
		return missing(err)
	}
	c.say("Rescheduled %s messages, due %s", cell(o["rescheduled"]), cell(o["due"]))
	return nil
}

// scheduled is the path, and the query, that names scheduled messages: by the number
// behind the queue or by --message-id. So many arguments follow the queue with a number,
// one less without.
func (c *call) scheduled(arguments int) (path []string, query map[string]string, err error) {
	if c.messageID != "" {
		arguments--
		query = map[string]string{"message_id": c.messageID}
		path = c.of("scheduled")
	} else if len(c.arguments) > 1 {
		path = c.of("scheduled", c.arguments[1])
	}
	switch n := len(c.arguments) - 1; {
	case n < arguments:
		return nil, nil, misuse("not enough arguments.")
	case n > arguments:
		return nil, nil, misuse("too many arguments.")
	}
	return path, query, nil
}
