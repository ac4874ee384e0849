package commandline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

var nodeVerbs = []verb{
	{
		name: "await_startup", about: "Waits until the broker answers",
		title: text("Waiting for {broker} to start up. Timeout: {timeout} seconds ..."), run: awaitStartup,
	},
	{
		name: "cluster_status", about: "Shows the one node that there is, with its listeners and alarms",
		title: text("Cluster status of node {broker} ..."), run: clusterStatus,
	},
	{
		name: "listeners", about: "Lists the addresses at which the broker listens",
		title: text("Asking node {broker} to report its protocol listeners ..."),
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			overview, err := broker.Get(ctx, "overview")
			if err == nil {
				format.Listeners(c.out, overview)
			}
			return err
		},
	},
	{
		name: "check_port_listener", arguments: "<port>", about: "Fails if the broker does not listen at a port",
		title: text("Asking node {broker} if there's an active listener on port {port} ..."),
		run:   inOrder(healthy("port-listener", "{port}"), says("A listener for port {port} is active")),
	},
	{
		name: "check_protocol_listener", arguments: "<protocol>", about: "Fails if the broker does not listen for a protocol, such as amqp",
		title: text("Asking node {broker} if there's an active listener for protocol {protocol} ..."),
		run:   inOrder(healthy("protocol-listener", "{protocol}"), says("A listener for protocol {protocol} is active")),
	},
	{
		name: "check_port_connectivity", about: "Fails if a port at which the broker listens cannot be connected to from here",
		title: text("Testing TCP connections to all active listeners on node {broker} ..."), run: checkPorts,
	},
	{name: "check_virtual_hosts", about: "Fails if a virtual host does not work", title: text("Checking if all vhosts are running on node {broker} ..."), run: inOrder(healthy("virtual-hosts"), says("Node {broker} reported all vhosts as running"))},
	{
		name: "server_version", about: "Shows the version of RabbitMQ that the broker follows",
		title: text("Asking node {broker} for its RabbitMQ version..."),
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			overview, err := broker.Get(ctx, "overview")
			if err == nil {
				c.say("%s", cell(overview["rabbitmq_version"]))
			}
			return err
		},
	},
	{
		name: "list_feature_flags", about: "Lists feature flags, all of which are on", options: "no-table-headers",
		columns: "name state stability provided_by desc doc_url", defaults: "name state",
		title: text("Listing feature flags ..."), run: listed("feature-flags").table(),
	},
	{name: "set_log_level", arguments: "<level>", about: "Changes from which level on the broker logs, until the next start", title: text("Setting log level to \"{level}\" ..."), run: puts(fields(map[string]string{"level": "{level}"}), "x", "log-level")},
	{name: "rotate_logs", about: "Does nothing: the broker logs to its standard error, which whoever started it keeps", title: text("Asking node {broker} to rotate its logs ..."), run: inOrder(healthy("virtual-hosts"), says("The broker logs to its standard error and has no file to rotate"))},
	{name: "stop", about: "Stops the broker as SIGTERM does, and waits until it is gone", title: text("Stopping and halting node {broker} ..."), run: stopBroker},
	{name: "shutdown", about: "Stops the broker as stop does", title: text("Shutting down node {broker} ..."), run: stopBroker},
	{name: "set_cluster_name", arguments: "<name>", about: "Names the broker", title: text("Setting cluster name to {name} ..."), run: puts(fields(map[string]string{"name": "{name}"}), "cluster-name")},
}

func stopBroker(ctx context.Context, broker *client.Client, _ *call) error {
	return broker.Shutdown(ctx)
}

// healthy asks for a health check; its reason is the finding.
func healthy(path ...string) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		_, err := broker.Get(ctx, append([]string{"health", "checks"}, c.path(path)...)...)
		var refused *client.Error
		if errors.As(err, &refused) && refused.Status == 503 {
			return failedCheck(refused.Reason)
		}
		return err
	}
}

// retryEvery is the pause between two questions whether the broker is there.
const retryEvery = 100 * time.Millisecond

// awaitStartup asks until there is an answer; a refusal is one, too.
func awaitStartup(ctx context.Context, broker *client.Client, _ *call) error {
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for {
		_, err := broker.Get(ctx, "overview")
		var refused *client.Error
		if err == nil || errors.As(err, &refused) {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func clusterStatus(ctx context.Context, broker *client.Client, c *call) error {
	overview, node, err := overviewAndNode(ctx, broker)
	if err != nil {
		return err
	}
	name, alarms := cell(overview["node"]), format.AlarmLines(node)
	if c.json {
		return json.NewEncoder(c.out).Encode(client.Object{
			"cluster_name": overview["cluster_name"], "disk_nodes": []string{name}, "ram_nodes": []string{}, "running_nodes": []string{name},
			"alarms": append([]string{}, alarms...), "listeners": client.Object{name: overview["listeners"]}, "partitions": client.Object{},
			"versions": client.Object{name: client.Object{"rabbitmq_version": overview["rabbitmq_version"], "rabbitmq_name": overview["product_name"]}},
		})
	}
	format.Cluster(c.out, overview, alarms)
	return nil
}

// checkPorts connects to all listeners; those at all addresses are tried at the loopback one.
func checkPorts(ctx context.Context, broker *client.Client, c *call) error {
	overview, err := broker.Get(ctx, "overview")
	if err != nil {
		return err
	}
	list, _ := overview["listeners"].([]any)
	var failed []string
	for _, l := range list {
		o := client.Object{"l": l}
		host, port := cell(format.Inside(o, "l", "ip_address")), cell(format.Inside(o, "l", "port"))
		if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
			host = "localhost"
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
		if err != nil {
			failed = append(failed, format.Listener(l))
			continue
		}
		_ = conn.Close() // it was only to be opened
	}
	if failed != nil {
		return failedCheck(fmt.Sprintf("Connection to ports of the following listeners on node %s failed:\n%s", c.broker, strings.Join(failed, "\n")))
	}
	c.say("Successfully connected to ports %s on node %s", strings.Join(portsOf(list), ", "), c.broker)
	return nil
}

func portsOf(listeners []any) (ports []string) {
	for _, l := range listeners {
		ports = append(ports, cell(format.Inside(client.Object{"l": l}, "l", "port")))
	}
	return ports
}
