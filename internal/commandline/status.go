package commandline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
			_, err := broker.Get(ctx, "health", "checks", "virtual-hosts")
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
	c.printStatus(overview, node, watermark, len(vhosts))
	return nil
}

// printStatus writes the parts of rabbitmqctl's status that mean something here.
func (c *call) printStatus(overview, node, watermark client.Object, vhosts int) {
	alarms := alarmLines(node)
	if c.json {
		_ = json.NewEncoder(c.out).Encode(client.Object{ // as much as an output can fail
			"product_name": overview["product_name"], "product_version": overview["product_version"],
			"rabbitmq_version": overview["rabbitmq_version"], "node": overview["node"], "uptime": seconds(node["uptime"]),
			"pid": node["os_pid"], "alarms": append([]string{}, alarms...), "listeners": overview["listeners"], "totals": overview["object_totals"],
			"vm_memory_high_watermark_limit": node["mem_limit"], "disk_free_limit": node["disk_free_limit"],
			"mem_used": node["mem_used"], "disk_free": node["disk_free"], "virtual_host_count": vhosts,
		})
		return
	}
	c.say("Runtime\n")
	c.say("OS PID: %s", cell(node["os_pid"]))
	c.say("Uptime (seconds): %d", seconds(node["uptime"]))
	c.say("Is under maintenance?: %s", cell(node["being_drained"]))
	c.say("Product name: %s", cell(overview["product_name"]))
	c.say("Product version: %s", cell(overview["product_version"]))
	c.say("RabbitMQ version: %s", cell(overview["rabbitmq_version"]))
	c.say("Node name: %s", cell(overview["node"]))
	c.say("\nAlarms\n\n%s", cmp.Or(strings.Join(alarms, "\n"), "(none)"))
	c.say("\nMemory\n\nTotal memory used: %s\nCalculation strategy: rss", gigabytes(node["mem_used"]))
	setting := gigabytes(watermark["absolute"])
	if share := watermark["relative"]; share != nil {
		setting = cell(share) + " of available memory"
	}
	c.say("Memory high watermark setting: %s, computed to: %s", setting, gigabytes(node["mem_limit"]))
	c.say("\nFile Descriptors\n\nTotal: %s, limit: %s", cell(node["fd_used"]), cell(node["fd_total"]))
	c.say("\nFree Disk Space\n\nLow free disk space watermark: %s", gigabytes(node["disk_free_limit"]))
	c.say("Free disk space: %s", gigabytes(node["disk_free"]))
	c.say("\nTotals\n")
	c.say("Connection count: %s", cell(inside(overview, "object_totals", "connections")))
	c.say("Queue count: %s", cell(inside(overview, "object_totals", "queues")))
	c.say("Virtual host count: %d", vhosts)
	c.say("\nListeners\n")
	c.sayListeners(overview)
}

// sayListeners writes a line for each listener.
func (c *call) sayListeners(overview client.Object) {
	list, _ := overview["listeners"].([]any)
	slices.SortStableFunc(list, func(a, b any) int { return cmp.Compare(listenerLine(a), listenerLine(b)) })
	for _, l := range list {
		c.say("%s", listenerLine(l))
	}
}

// purposes describe listeners as rabbitmqctl does.
var purposes = map[string]string{
	"amqp": "AMQP 0-9-1", "amqp/ssl": "AMQP 0-9-1 over TLS", "http": "HTTP API", "https": "HTTP API over TLS (HTTPS)",
}

func listenerLine(l any) string {
	o := client.Object{"l": l}
	name := cell(inside(o, "l", "protocol"))
	return fmt.Sprintf("Interface: %s, port: %s, protocol: %s, purpose: %s",
		cell(inside(o, "l", "ip_address")), cell(inside(o, "l", "port")), name, cmp.Or(purposes[name], name))
}

func seconds(ms any) int64 {
	n, _ := ms.(json.Number)
	whole, _ := n.Int64() // 0 for what is none
	return whole / 1000
}

func gigabytes(bytes any) string {
	n, _ := bytes.(json.Number)
	f, _ := n.Float64() // 0 for what is none
	return fmt.Sprintf("%.4f gb", f/1e9)
}
