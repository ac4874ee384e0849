package commandline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"candlemark/internal/httpapi/client"
)

var objectVerbs = []verb{
	{
		name: "delete_queue", about: "Deletes a queue", arguments: "<queue_name>", options: "if-empty e if-unused u",
		title: titleOfDeleteQueue, run: deleteQueue,
	},
	{
		name: "purge_queue", about: "Drops all messages of a queue that are ready", arguments: "<queue>", title: text("Purging queue '{queue}' in vhost '{vhost}' ..."),
		run: deletes("queues", "{vhost}", "{queue}", "contents").ifMissing(misuse("Queue not found")),
	},
	{
		name: "close_connection", about: "Closes a connection; its client is told why", arguments: "<connection pid> <explanation>",
		title: text("Closing connection {connection pid}, reason: {explanation}..."),
		run: action(func(ctx context.Context, broker *client.Client, c *call) error {
			return broker.CloseConnection(ctx, c.arguments[0], c.arguments[1])
		}).ifMissing(complaint("no such connection: {connection pid}")),
	},
	{
		name: "close_all_connections", about: "Closes the connections of a virtual host, or all", arguments: "<explanation>", options: "global limit",
		title: titleOfCloseAll, run: closeAll,
	},
	{
		name: "close_all_user_connections", arguments: "<username> <explanation>", about: "Closes all connections of a user",
		title: text("Closing connections of user {username}, reason: {explanation}..."),
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			list, err := broker.List(ctx, "connections")
			if err != nil {
				return err
			}
			mine := slices.DeleteFunc(list, func(o client.Object) bool { return o["user"] != c.arguments[0] })
			return closeThose(ctx, broker, c, mine, c.arguments[1])
		},
	},
	{name: "trace_on", about: "Starts to copy what is published and delivered to amq.rabbitmq.trace", title: text(`Starting tracing for vhost "{vhost}" ...`), run: inOrder(traced(true), says("Trace enabled for vhost {vhost}"))},
	{name: "trace_off", about: "Ends the copying of trace_on", title: text(`Stopping tracing for vhost "{vhost}" ...`), run: inOrder(traced(false), says("Trace disabled for vhost {vhost}"))},
}

// traced switches the firehose.
func traced(on bool) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		return broker.SetTracing(ctx, c.vhost, on)
	}
}

func titleOfDeleteQueue(c *call) string {
	var conditions []string
	if c.ifEmpty {
		conditions = append(conditions, "if queue is empty ")
	}
	if c.ifUnused {
		conditions = append(conditions, "if queue is unused ")
	}
	return fmt.Sprintf("Deleting queue '%s' on vhost '%s' %s...", c.arguments[0], c.vhost, strings.Join(conditions, "and "))
}

func deleteQueue(ctx context.Context, broker *client.Client, c *call) error {
	// How many messages go with it is known only before.
	q, err := broker.Get(ctx, "queues", c.vhost, c.arguments[0])
	if err == nil {
		err = broker.DeleteQueue(ctx, c.vhost, c.arguments[0], c.ifEmpty, c.ifUnused)
	}
	var refused *client.Error
	switch {
	case isMissing(err):
		return misuse("Queue not found")
	case errors.As(err, &refused) && strings.HasSuffix(refused.Reason, "not empty"):
		return misuse("Queue is not empty")
	case errors.As(err, &refused) && strings.HasSuffix(refused.Reason, "in use"):
		return misuse("Queue is in use")
	case err != nil:
		return err
	}
	c.say("Queue was successfully deleted with %s ready messages", cell(q["messages_ready"]))
	return nil
}

func titleOfCloseAll(c *call) string {
	switch {
	case c.global:
		return fmt.Sprintf("Closing all connections to node %s (across all vhosts), reason: %s...", c.broker, c.arguments[0])
	case c.limit > 0:
		return fmt.Sprintf("Closing %d connections in vhost %s, reason: %s...", c.limit, c.vhost, c.arguments[0])
	}
	return fmt.Sprintf("Closing all connections in vhost %s, reason: %s...", c.vhost, c.arguments[0])
}

func closeAll(ctx context.Context, broker *client.Client, c *call) error {
	path := []string{"vhosts", c.vhost, "connections"}
	if c.global {
		path = []string{"connections"}
	}
	list, err := broker.List(ctx, path...)
	if err != nil {
		return err
	}
	return closeThose(ctx, broker, c, list, c.arguments[0])
}

// closeThose closes connections, no more than the limit if there is one.
func closeThose(ctx context.Context, broker *client.Client, c *call, list []client.Object, reason string) error {
	closed := 0
	for _, o := range list {
		if c.limit > 0 && closed == c.limit {
			break
		}
		err := broker.CloseConnection(ctx, cell(o["name"]), reason)
		if isMissing(err) {
			continue // it left by itself
		}
		if err != nil {
			return err
		}
		closed++
	}
	c.say("Closed %d connections", closed)
	return nil
}
