package commandline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var objectVerbs = []verb.Row{
	{
		Name: "delete_queue", About: "Deletes a queue", Arguments: "<queue_name>", Options: "vhost if-empty e if-unused u",
		Title: titleOfDeleteQueue, Run: deleteQueue,
	},
	{
		Name: "purge_queue", Options: "vhost", About: "Purges all ready messages of a queue", Arguments: "<queue>", Title: verb.Text("Purging queue '{queue}' in vhost '{vhost}' ..."),
		Run: verb.Deletes("queues", "{vhost}", "{queue}", "contents").IfMissing(verb.Misuse("Queue not found")),
	},
	{
		Name: "pause_queue", About: "Stops the deliveries of a queue, until a date, for a time, or without an end", Arguments: "<queue> [<until>]", Options: "vhost for",
		Title: verb.Text("Pausing queue '{queue}' in vhost '{vhost}' ..."), Run: pauseQueue,
	},
	{
		Name: "resume_queue", Options: "vhost", About: "Lets the deliveries of a paused queue go on", Arguments: "<queue>",
		Title: verb.Text("Resuming queue '{queue}' in vhost '{vhost}' ..."), Run: resumeQueue,
	},
	{
		Name: "close_connection", About: "Closes a connection, with an explanation for the client", Arguments: "<connection pid> <explanation>",
		Title: verb.Text("Closing connection {connection pid}, reason: {explanation}..."),
		Run: verb.Action(func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			return broker.CloseConnection(ctx, c.Arguments[0], c.Arguments[1])
		}).IfMissing(verb.Complaint("no such connection: {connection pid}")),
	},
	{
		Name: "close_all_connections", About: "Closes all connections, of a virtual host or of the broker", Arguments: "<explanation>", Options: "vhost global limit",
		Title: titleOfCloseAll, Run: closeAll,
	},
	{
		Name: "close_all_user_connections", Arguments: "<username> <explanation>", About: "Closes all connections of a user",
		Title: verb.Text("Closing connections of user {username}, reason: {explanation}..."),
		Run: func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			list, err := broker.List(ctx, "connections")
			if err != nil {
				return err
			}
			mine := slices.DeleteFunc(list, func(o client.Object) bool { return o["user"] != c.Arguments[0] })
			return closeThose(ctx, broker, c, mine, c.Arguments[1])
		},
	},
	{Name: "trace_on", Options: "vhost", About: "Starts message tracing: copies published and delivered messages to amq.rabbitmq.trace", Title: verb.Text(`Starting tracing for vhost "{vhost}" ...`), Run: verb.InOrder(traced(true), verb.Says("Trace enabled for vhost {vhost}"))},
	{Name: "trace_off", Options: "vhost", About: "Stops message tracing", Title: verb.Text(`Stopping tracing for vhost "{vhost}" ...`), Run: verb.InOrder(traced(false), verb.Says("Trace disabled for vhost {vhost}"))},
}

// traced switches the firehose.
func traced(on bool) verb.Action {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) error {
		return broker.SetTracing(ctx, c.VHost, on)
	}
}

func pauseQueue(ctx context.Context, broker *client.Client, c *verb.Call) error {
	body := map[string]string{}
	switch {
	case len(c.Arguments) > 1 && c.Given("for"):
		return verb.Misuse("give either a date or --for")
	case len(c.Arguments) > 1:
		body["until"] = c.Arguments[1]
	case c.Given("for"):
		body["for"] = c.For
	}
	return changePause(ctx, broker, c, body, "pause")
}

func resumeQueue(ctx context.Context, broker *client.Client, c *verb.Call) error {
	return changePause(ctx, broker, c, nil, "resume")
}

// changePause pauses or resumes a queue, and tells its state.
func changePause(ctx context.Context, broker *client.Client, c *verb.Call, body map[string]string, how string) error {
	o, err := broker.Change(ctx, http.MethodPut, nil, body, c.Of(how)...)
	if err != nil {
		return verb.Missing(err)
	}
	switch until := verb.Cell(o["paused_until"]); {
	case until != "":
		c.Say("The queue is paused until %s", until)
	case o["paused"] == true:
		c.Say("The queue is paused")
	default:
		c.Say("The queue is not paused")
	}
	return nil
}

func titleOfDeleteQueue(c *verb.Call) string {
	var conditions []string
	if c.IfEmpty {
		conditions = append(conditions, "if queue is empty ")
	}
	if c.IfUnused {
		conditions = append(conditions, "if queue is unused ")
	}
	return fmt.Sprintf("Deleting queue '%s' on vhost '%s' %s...", c.Arguments[0], c.VHost, strings.Join(conditions, "and "))
}

func deleteQueue(ctx context.Context, broker *client.Client, c *verb.Call) error {
	// How many messages go with it is known only before.
	q, err := broker.Get(ctx, "queues", c.VHost, c.Arguments[0])
	if err == nil {
		err = broker.DeleteQueue(ctx, c.VHost, c.Arguments[0], c.IfEmpty, c.IfUnused)
	}
	var refused *client.Error
	switch {
	case verb.IsMissing(err):
		return verb.Misuse("Queue not found")
	case errors.As(err, &refused) && strings.HasSuffix(refused.Reason, "not empty"):
		return verb.Misuse("Queue is not empty")
	case errors.As(err, &refused) && strings.HasSuffix(refused.Reason, "in use"):
		return verb.Misuse("Queue is in use")
	case err != nil:
		return err
	}
	c.Say("Queue was successfully deleted with %s ready messages", verb.Cell(q["messages_ready"]))
	return nil
}

func titleOfCloseAll(c *verb.Call) string {
	switch {
	case c.Global:
		return fmt.Sprintf("Closing all connections to node %s (across all vhosts), reason: %s...", c.Broker, c.Arguments[0])
	case c.Limit > 0:
		return fmt.Sprintf("Closing %d connections in vhost %s, reason: %s...", c.Limit, c.VHost, c.Arguments[0])
	}
	return fmt.Sprintf("Closing all connections in vhost %s, reason: %s...", c.VHost, c.Arguments[0])
}

func closeAll(ctx context.Context, broker *client.Client, c *verb.Call) error {
	path := []string{"vhosts", c.VHost, "connections"}
	if c.Global {
		path = []string{"connections"}
	}
	list, err := broker.List(ctx, path...)
	if err != nil {
		return err
	}
	return closeThose(ctx, broker, c, list, c.Arguments[0])
}

// closeThose closes connections, no more than the limit if there is one.
func closeThose(ctx context.Context, broker *client.Client, c *verb.Call, list []client.Object, reason string) error {
	closed := 0
	for _, o := range list {
		if c.Limit > 0 && closed == c.Limit {
			break
		}
		err := broker.CloseConnection(ctx, verb.Cell(o["name"]), reason)
		if verb.IsMissing(err) {
			continue // it left by itself
		}
		if err != nil {
			return err
		}
		closed++
	}
	c.Say("Closed %d connections", closed)
	return nil
}
