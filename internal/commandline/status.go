package commandline

import (
	"context"
	"strconv"

	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

var statusVerbs = []verb{
	{name: "status", about: "Shows what the broker is and uses", title: text("Status of node {broker} ..."), run: status},
	{
		name: "ping", about: "Fails if the broker does not answer",
		title: func(c *call) string {
			return c.expand("Will ping {broker}. This only checks if the broker answers over HTTP. Timeout: ") + strconv.Itoa(c.timeout*1000) + " ms."
		},
		run: inOrder(func(ctx context.Context, broker *client.Client, _ *call) error {
			_, err := broker.Get(ctx, "health", "checks", "is-in-service") // which takes no login
			return err
		}, says("Ping succeeded")),
	},
	{
		name: "check_running", about: "Fails if the broker does not run", title: text("Checking if RabbitMQ is running on node {broker} ..."),
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			o, err := broker.Get(ctx, "overview")
			if err == nil {
				c.say("RabbitMQ on node %s is fully booted and running", cell(o["node"]))
			}
			return err
		},
	},
}

// overviewAndNode describe the broker and the node that it names.
func overviewAndNode(ctx context.Context, broker *client.Client) (overview, node client.Object, err error) {
	if overview, err = broker.Get(ctx, "overview"); err == nil {
		node, err = broker.Get(ctx, "nodes", cell(overview["node"]))
	}
	return overview, node, err
}

func status(ctx context.Context, broker *client.Client, c *call) error {
	overview, node, err := overviewAndNode(ctx, broker)
	if err != nil {
		return err
	}
	vhosts, err := broker.List(ctx, "vhosts")
	if err != nil {
		return err
	}
	watermark, err := broker.Get(ctx, "memory-high-watermark")
	if err != nil {
		return err
	}
	told := format.Status{Overview: overview, Node: node, Watermark: watermark, Alarms: format.AlarmLines(node), VHosts: len(vhosts)}
	if c.json {
		return told.JSON(c.out)
	}
	told.Text(c.out)
	return nil
}
