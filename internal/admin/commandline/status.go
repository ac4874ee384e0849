package commandline

import (
	"context"
	"strconv"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var statusVerbs = []verb.Row{
	{Name: "status", About: "Shows version, resource usage and totals of the broker", Title: verb.Text("Status of node {broker} ..."), Run: status},
	{
		Name: "ping", About: "Fails if the broker does not answer",
		Title: func(c *verb.Call) string {
			return c.Expand("Will ping {broker}. This only checks if the broker answers over HTTP. Timeout: ") + strconv.Itoa(c.Timeout*1000) + " ms."
		},
		Run: verb.InOrder(func(ctx context.Context, broker *client.Client, _ *verb.Call) error {
			_, err := broker.Get(ctx, "health", "checks", "is-in-service") // which takes no login
			return err
		}, verb.Says("Ping succeeded")),
	},
	{
		Name: "check_running", About: "Fails if the broker is not running", Title: verb.Text("Checking if RabbitMQ is running on node {broker} ..."),
		Run: fullyBooted("RabbitMQ on node {node} is fully booted and running"),
	},
}

// overviewAndNode describe the broker and the node that it names.
func overviewAndNode(ctx context.Context, broker *client.Client) (overview, node client.Object, err error) {
	if overview, err = broker.Get(ctx, "overview"); err == nil {
		node, err = broker.Get(ctx, "nodes", verb.Cell(overview["node"]))
	}
	return overview, node, err
}

func status(ctx context.Context, broker *client.Client, c *verb.Call) error {
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
	status := format.Status{Overview: overview, Node: node, Watermark: watermark, Alarms: format.AlarmLines(node), VHosts: len(vhosts)}
	if c.JSON {
		return status.JSON(c.Out)
	}
	status.Text(c.Out)
	return nil
}
