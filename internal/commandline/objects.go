package commandline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"candlemark/internal/httpapi/client"
)

var deleteQueueVerb = verb{
	arguments: []string{"queue_name"}, options: []string{"if-empty", "e", "if-unused", "u"},
	banner: func(c *call) string {
		var conditions []string
		if c.ifEmpty {
			conditions = append(conditions, "if queue is empty ")
		}
		if c.ifUnused {
			conditions = append(conditions, "if queue is unused ")
		}
		return fmt.Sprintf("Deleting queue '%s' on vhost '%s' %s...", c.arguments[0], c.vhost, strings.Join(conditions, "and "))
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
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
	},
}

var purgeQueueVerb = verb{
	arguments: []string{"queue"},
	banner: func(c *call) string {
		return fmt.Sprintf("Purging queue '%s' in vhost '%s' ...", c.arguments[0], c.vhost)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		err := broker.PurgeQueue(ctx, c.vhost, c.arguments[0])
		if isMissing(err) {
			return misuse("Queue not found")
		}
		return err
	},
}

var closeConnectionVerb = verb{
	arguments: []string{"connection pid", "explanation"},
	banner: func(c *call) string {
		return fmt.Sprintf("Closing connection %s, reason: %s...", c.arguments[0], c.arguments[1])
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		err := broker.CloseConnection(ctx, c.arguments[0], c.arguments[1])
		if isMissing(err) {
			return complaint("no such connection: " + c.arguments[0])
		}
		return err
	},
}

var closeAllConnectionsVerb = verb{
	arguments: []string{"explanation"}, options: []string{"global", "limit"},
	banner: func(c *call) string {
		switch {
		case c.global:
			return fmt.Sprintf("Closing all connections to node %s (across all vhosts), reason: %s...", c.broker, c.arguments[0])
		case c.limit > 0:
			return fmt.Sprintf("Closing %d connections in vhost %s, reason: %s...", c.limit, c.vhost, c.arguments[0])
		}
		return fmt.Sprintf("Closing all connections in vhost %s, reason: %s...", c.vhost, c.arguments[0])
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		path := []string{"vhosts", c.vhost, "connections"}
		if c.global {
			path = []string{"connections"}
		}
		list, err := broker.List(ctx, path...)
		if err != nil {
			return err
		}
		closed := 0
		for _, o := range list {
			if c.limit > 0 && closed == c.limit {
				break
			}
			err := broker.CloseConnection(ctx, cell(o["name"]), c.arguments[0])
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
	},
}

var pingVerb = verb{
	banner: func(c *call) string {
		return fmt.Sprintf("Will ping %s. This only checks if the broker answers over HTTP. Timeout: %d ms.", c.broker, c.timeout*1000)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		if _, err := broker.Get(ctx, "health", "checks", "virtual-hosts"); err != nil {
			return err
		}
		c.say("Ping succeeded")
		return nil
	},
}

var checkRunningVerb = verb{
	banner: func(c *call) string { return fmt.Sprintf("Checking if RabbitMQ is running on node %s ...", c.broker) },
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		o, err := broker.Get(ctx, "overview")
		if err != nil {
			return err
		}
		c.say("RabbitMQ on node %s is fully booted and running", cell(o["node"]))
		return nil
	},
}

// say writes a line of the result, which silence does not suppress.
func (c *call) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }
