package commandline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var nodeVerbs = []verb.Row{
	{
		Name: "await_startup", About: "Waits until the broker has started",
		Title: verb.Text("Waiting for {broker} to start up. Timeout: {timeout} seconds ..."), Run: awaitStartup,
	},
	{
		Name: "cluster_status", About: "Shows the nodes, their versions and alarms, and the listeners of the one that leads",
		Title: verb.Text("Cluster status of node {broker} ..."), Run: clusterStatus,
	},
	{
		Name: "listeners", About: "Lists the addresses the broker listens on",
		Title: verb.Text("Asking node {broker} to report its protocol listeners ..."),
		Run: func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			overview, err := broker.Get(ctx, "overview")
			if err == nil {
				format.Listeners(c.Out, overview)
			}
			return err
		},
	},
	{
		Name: "check_port_listener", Arguments: "<port>", About: "Fails if the broker does not listen on a port",
		Title: verb.Text("Asking node {broker} if there's an active listener on port {port} ..."),
		Run:   verb.InOrder(healthy("port-listener", "{port}"), verb.Says("A listener for port {port} is active")),
	},
	{
		Name: "check_protocol_listener", Arguments: "<protocol>", About: "Fails if the broker does not listen for a protocol, such as amqp",
		Title: verb.Text("Asking node {broker} if there's an active listener for protocol {protocol} ..."),
		Run:   verb.InOrder(healthy("protocol-listener", "{protocol}"), verb.Says("A listener for protocol {protocol} is active")),
	},
	{
		Name: "check_port_connectivity", About: "Fails if a listener of the broker cannot be reached from this machine",
		Title: verb.Text("Testing TCP connections to all active listeners on node {broker} ..."), Run: checkPorts,
	},
	{
		Name: "check_oldest_message", Options: "vhost over name unacked", About: "Fails if a message has waited for longer than a time",
		Title: func(c *verb.Call) string { return "Checking if messages are older than " + c.Over + " ..." },
		Run:   verb.InOrder(checkOldest, verb.Says("No message is older")),
	},
	{Name: "check_virtual_hosts", About: "Fails if a virtual host is not running", Title: verb.Text("Checking if all vhosts are running on node {broker} ..."), Run: verb.InOrder(healthy("virtual-hosts"), verb.Says("Node {broker} reported all vhosts as running"))},
	{
		Name: "server_version", About: "Shows the RabbitMQ version that the broker announces",
		Title: verb.Text("Asking node {broker} for its RabbitMQ version..."),
		Run: func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			overview, err := broker.Get(ctx, "overview")
			if err == nil {
				c.Say("%s", verb.Cell(overview["rabbitmq_version"]))
			}
			return err
		},
	},
	{
		Name: "list_feature_flags", About: "Lists feature flags, all of them enabled", Options: "no-table-headers",
		Columns: "name state stability provided_by desc doc_url", Defaults: "name state",
		Title: verb.Text("Listing feature flags ..."), Run: verb.Listed("feature-flags").Table(),
	},
	{
		Name: "environment", About: "Lists the effective settings of the broker and their sources", Options: "no-table-headers",
		Title: verb.Text("Application environment of node {broker} ..."), Run: verb.Listed("x", "settings").Table("name", "value", "from"),
	},
	{Name: "set_log_level", Arguments: "<level>", About: "Sets the log level, until the next start", Title: verb.Text("Setting log level to \"{level}\" ..."), Run: verb.Puts(verb.Fields(map[string]string{"level": "{level}"}), "x", "log-level")},
	{Name: "rotate_logs", About: "Has no effect: the broker logs to standard error", Title: verb.Text("Asking node {broker} to rotate its logs ..."), Run: verb.InOrder(healthy("virtual-hosts"), verb.Says("The broker logs to its standard error and has no file to rotate"))},
	{Name: "stop", About: "Stops the broker, like SIGTERM, and waits for its end", Title: verb.Text("Stopping and halting node {broker} ..."), Run: stopBroker},
	{Name: "shutdown", About: "Stops the broker, like stop", Title: verb.Text("Shutting down node {broker} ..."), Run: stopBroker},
	{Name: "set_cluster_name", Arguments: "<name>", About: "Sets the cluster name", Title: verb.Text("Setting cluster name to {name} ..."), Run: verb.Puts(verb.Fields(map[string]string{"name": "{name}"}), "cluster-name")},
}

func stopBroker(ctx context.Context, broker *client.Client, _ *verb.Call) error {
	return broker.Shutdown(ctx)
}

// healthy asks for a health check; its reason is the finding.
func healthy(path ...string) verb.Action {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) error {
		_, err := broker.Get(ctx, append([]string{"health", "checks"}, c.Path(path)...)...)
		var refused *client.Error
		if errors.As(err, &refused) && refused.Status == 503 {
			return verb.FailedCheck(refused.Reason)
		}
		return err
	}
}

// checkOldest asks for queues with old messages, of all virtual hosts unless one is given; the finding names them (AGE-5).
func checkOldest(ctx context.Context, broker *client.Client, c *verb.Call) error {
	query := url.Values{"over": {c.Over}, "name": {c.Named}, "unacked": {strconv.FormatBool(c.Unacked)}}
	if c.Given("p") || c.Given("vhost") {
		query.Set("vhost", c.VHost)
	}
	_, err := broker.Send(ctx, "GET", nil, query, "x", "health", "oldest-message")
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 503 {
		return verb.Missing(err)
	}
	var found struct {
		Queues []struct {
			VHost, Name string
			Age         float64 `json:"age_s"`
			Ready       int     `json:"messages_ready"`
		}
	}
	if err := json.Unmarshal([]byte(refused.Body), &found); err != nil {
		return refused
	}
	text := refused.Reason
	for _, q := range found.Queues {
		text += fmt.Sprintf("\nqueue '%s' in vhost '%s': %s, %d ready", q.Name, q.VHost, time.Duration(q.Age*1e9).Round(time.Millisecond), q.Ready)
	}
	return verb.FailedCheck(text)
}

// retryEvery is the pause between two attempts to reach the broker.
const retryEvery = 100 * time.Millisecond

// awaitStartup asks until there is an answer; a refusal is one, too.
func awaitStartup(ctx context.Context, broker *client.Client, _ *verb.Call) error {
	return awaited(ctx, broker, func() error { return nil })
}

// awaited asks until there is an answer, or ended returns an error.
func awaited(ctx context.Context, broker *client.Client, ended func() error) error {
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for {
		_, err := broker.Get(ctx, "overview")
		var refused *client.Error
		if err == nil || errors.As(err, &refused) {
			return err
		}
		if err := ended(); err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func clusterStatus(ctx context.Context, broker *client.Client, c *verb.Call) error {
	overview, err := broker.Get(ctx, "overview")
	if err != nil {
		return err
	}
	nodes, err := broker.List(ctx, "nodes")
	if err != nil {
		return err
	}
	n, err := askNodes(ctx, broker)
	if err != nil {
		return err
	}
	name := verb.Cell(overview["node"])
	var alarms []string
	versions := client.Object{}
	for _, node := range nodes {
		alarms = append(alarms, format.AlarmLines(node)...)
		if node["running"] == true && node["product_version"] != "" {
			versions[verb.Cell(node["name"])] = client.Object{"rabbitmq_version": node["rabbitmq_version"], "rabbitmq_name": overview["product_name"], "product_version": node["product_version"]}
		}
	}
	if c.JSON {
		return json.NewEncoder(c.Out).Encode(client.Object{
			"cluster_name": overview["cluster_name"], "disk_nodes": n.all, "ram_nodes": []string{}, "running_nodes": n.online,
			"alarms": append([]string{}, alarms...), "listeners": client.Object{name: overview["listeners"]}, "partitions": client.Object{},
			"versions": versions,
		})
	}
	format.Cluster(c.Out, overview, versions, alarms, n.all, n.online)
	return nil
}

// checkPorts connects to all listeners; listeners at all addresses are tried at the loopback address.
func checkPorts(ctx context.Context, broker *client.Client, c *verb.Call) error {
	overview, err := broker.Get(ctx, "overview")
	if err != nil {
		return err
	}
	list, _ := overview["listeners"].([]any)
	var failed []string
	for _, l := range list {
		o := client.Object{"l": l}
		host, port := verb.Cell(format.Inside(o, "l", "ip_address")), verb.Cell(format.Inside(o, "l", "port"))
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
		return verb.FailedCheck(fmt.Sprintf("Connection to ports of the following listeners on node %s failed:\n%s", c.Broker, strings.Join(failed, "\n")))
	}
	c.Say("Successfully connected to ports %s on node %s", strings.Join(portsOf(list), ", "), c.Broker)
	return nil
}

func portsOf(listeners []any) (ports []string) {
	for _, l := range listeners {
		ports = append(ports, verb.Cell(format.Inside(client.Object{"l": l}, "l", "port")))
	}
	return ports
}
