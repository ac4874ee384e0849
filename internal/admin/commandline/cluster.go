package commandline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

// clusterVerbs are RabbitMQ's commands about the nodes of a cluster and the replicas of queues.
var clusterVerbs = []verb.Row{
	{
		Name: "wait", Arguments: "[<pidfile>]", Options: "pid P", About: "Waits until the broker has started, or until the process of --pid or of a pid file has ended",
		Title: verb.Text("Waiting for applications 'rabbit_and_plugins' to start on node {broker}"), Run: waitFor,
	},
	{Name: "start_app", About: "Fails if the broker is not running; the broker starts with its process", Title: verb.Text("Starting node {broker} ..."), Run: fullyBooted("")},
	{
		Name: "is_running", About: "Fails if the broker is not running, like check_running", Title: verb.Text("Asking node {broker} for its status ..."),
		Run: fullyBooted("RabbitMQ on node {node} is fully booted and running"),
	},
	{
		Name: "is_booting", About: "Says whether the broker is still starting", Title: verb.Text("Asking node {broker} for its boot status ..."),
		Run: fullyBooted("RabbitMQ on node {node} is fully booted (check with is_running), stopped or has not started booting yet"),
	},
	{
		Name: "node_health_check", About: "Fails if a virtual host is not running or an alarm is in effect", Title: verb.Text("Checking health of node {broker} ..."),
		Run: verb.InOrder(healthy("virtual-hosts"), healthy("local-alarms"), verb.Says("Health check passed")),
	},
	{
		Name: "enable_feature_flag", Arguments: "<feature_flag>", Options: "opt-in", About: "Fails unless the argument is a feature flag or all; has no other effect, as all flags are enabled",
		Title: func(c *verb.Call) string {
			if c.Arguments[0] == "all" {
				return "Enabling all feature flags ..."
			}
			return c.Expand(`Enabling feature flag "{feature_flag}" ...`)
		},
		Run: enableFlag,
	},
	{
		Name: "list_deprecated_features", Options: "used no-table-headers", About: "Lists deprecated features in use; always empty, as none is supported",
		Title: verb.Text("Listing deprecated features ..."), Run: noRows.Table("name", "deprecation_phase", "state"),
	},
	{
		Name: "check_if_any_deprecated_features_are_used", About: "Fails if a deprecated feature is in use, which is never the case",
		Title: verb.Text("Checking if any deprecated features are used ..."),
		Run:   verb.InOrder(fullyBooted(""), verb.Says("Cluster reported no deprecated features in use")),
	},
	{
		Name: "await_online_nodes", Arguments: "<count>", About: "Waits until the given number of nodes is online; a broker alone has one", Check: wholeNumber,
		Title: verb.Text("Will wait for at least {count} nodes to join the cluster of {broker}. Timeout: {timeout} seconds."), Run: awaitNodes,
	},
	{
		Name: "has_reached_target_cluster_size", About: "Fails if the broker is not running; the cluster always has one node",
		Title: verb.Text("Checking if target cluster size has been reached on node {broker} ..."), Run: fullyBooted("Target cluster size has been reached on node {node}"),
	},
	{
		Name: "quorum_status", Arguments: "<queue>", Options: "vhost no-table-headers", About: "Shows the nodes of a quorum queue, and which leads",
		Title: verb.Text("Status of queue {queue} on node {broker} ..."), Run: quorumStatus,
	},
	{
		Name: "check_if_node_is_quorum_critical", About: "Fails if no majority of the nodes would be left without one; says that the check does not apply to a broker alone",
		Title: verb.Text("Checking if node {broker} is critical for quorum of any queues/streams ..."), Run: quorumCritical,
	},
	{
		Name: "await_online_quorum_plus_one", About: "Waits until a majority of the nodes and one more are online",
		Title: verb.Text("Will wait for a quorum + 1 of nodes to be online for all quorum queues and streams for {timeout} seconds..."), Run: awaitSpare(1),
	},
	{
		Name: "await_online_quorum", About: "Waits until a majority of the nodes is online",
		Title: verb.Text("Will wait for a quorum of nodes to be online for {timeout} seconds..."), Run: awaitSpare(0),
	},
	{
		Name: "transfer_leadership", Arguments: "[<node>]", About: "Makes another node lead the cluster, or the given one, and waits until it does",
		Title: verb.Text("Transferring the leadership of the cluster ..."), Run: transferLeadership,
	},
	{
		Name: "drain", Arguments: "[<node>]", About: "Puts a node into maintenance mode, by default the leader: it hands over, refuses clients, and does not lead while others can",
		Title: verb.Text("Will put a node into maintenance mode ..."), Run: drain,
	},
	{Name: "revive", Arguments: "<node>", About: "Ends the maintenance mode of a node", Title: verb.Text("Will revive node {node} ..."), Run: verb.Deletes("x", "cluster", "drained", "{node}")},
	{
		Name: "forget_cluster_node", Arguments: "<node>", Options: "offline", About: "Removes a node that was stopped from the cluster; with --offline, from the data folder of a stopped node",
		Title: verb.Text("Removing node {node} from the cluster"), Run: verb.Deletes("x", "cluster", "members", "{node}"),
	},
	{
		Name: "reset", Arguments: "<node>", About: "Removes a node that was drained from the cluster, and all of its data; it joins again if its settings name another node",
		Title: verb.Text("Resetting node {node} ..."), Run: verb.Puts(verb.Fields(nil), "x", "cluster", "reset", "{node}"),
	},
	{
		Name: "join_cluster", Arguments: "<node>", About: "Makes the broker, the only node of its cluster, join the cluster of rabbit@host or host:port; it must have no queues",
		Title: verb.Text("Clustering node {broker} with {node}"), Run: verb.Puts(verb.Fields(map[string]string{"node": "{node}"}), "x", "cluster", "joined"),
	},
	{
		Name: "rebalance", Arguments: "<type>", Options: "vhost-pattern queue-pattern", About: "Has no effect: one node leads all queues",
		Title: verb.Text("Re-balancing leaders of {type} queues..."), Run: fullyBooted("Node {node} leads all queues"),
	},
	{Name: "post_upgrade", About: "Has no effect: nothing is left to do after an upgrade", Title: verb.Text("Executing post upgrade tasks..."), Run: fullyBooted("Node {node} has nothing to do")},
	{
		Name: "list_unresponsive_queues", Options: "vhost no-table-headers local all queue-timeout", About: "Lists the queues of a virtual host that are not running", Columns: "name durable auto_delete arguments pid recoverable_slaves state",
		Defaults: "name", Title: verb.Text("Listing unresponsive queues for vhost {vhost} ..."), Run: unresponsive.Table(),
	},
}

// noRows is an empty list.
var noRows verb.Rows = func(ctx context.Context, broker *client.Client, _ *verb.Call) ([]client.Object, error) {
	_, err := broker.Get(ctx, "overview")
	return nil, err
}

// fullyBooted asks for the name of the node and says a line with {node} in it; "" for none.
func fullyBooted(line string) verb.Action {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) error {
		o, err := broker.Get(ctx, "overview")
		if err == nil && line != "" {
			c.Say("%s", strings.ReplaceAll(line, "{node}", verb.Cell(o["node"])))
		}
		return err
	}
}

// unresponsive are the queues with a state that is not one of a queue at work.
var unresponsive verb.Rows = func(ctx context.Context, broker *client.Client, c *verb.Call) ([]client.Object, error) {
	list, err := broker.List(ctx, "queues", c.VHost)
	return slices.DeleteFunc(list, func(o client.Object) bool {
		return slices.Contains([]string{"running", "idle", "flow", "ending"}, verb.Cell(o["state"]))
	}), err
}

func enableFlag(ctx context.Context, broker *client.Client, c *verb.Call) error {
	flags, err := broker.List(ctx, "feature-flags")
	name := c.Arguments[0]
	if err != nil || name == "all" || slices.ContainsFunc(flags, func(o client.Object) bool { return o["name"] == name }) {
		return err
	}
	return verb.Misuse("This feature flag is not supported by node " + c.Broker)
}

func wholeNumber(arguments []string) (wrong string, code int) {
	if n, err := strconv.Atoi(arguments[0]); err != nil || n < 0 {
		return "Bad argument: the number of nodes must be a whole number", verb.ExitData
	}
	return "", 0
}

func quorumStatus(ctx context.Context, broker *client.Client, c *verb.Call) error {
	o, err := broker.Get(ctx, c.Path([]string{"queues", "{vhost}", "{queue}"})...)
	switch {
	case verb.IsMissing(err):
		return verb.Fail(verb.ExitData, c.Expand("queue '{queue}' was not found in virtual host '{vhost}'"))
	case err != nil:
		return err
	case o["type"] != "quorum":
		return verb.Complaint("the queue is not a quorum queue")
	}
	rows := []client.Object{}
	members, _ := o["members"].([]any)
	for _, m := range members {
		row := client.Object{"Node Name": m, "Raft State": "follower", "Membership": "voter"}
		if m == o["leader"] {
			row["Raft State"] = "leader"
		}
		rows = append(rows, row)
	}
	return c.PrintTable([]string{"Node Name", "Raft State", "Membership"}, rows)
}

// waitFor waits as awaitStartup does, while a process runs: the process of --pid, or, once the file exists, the process
// whose number the file contains.
func waitFor(ctx context.Context, broker *client.Client, c *verb.Call) error {
	err := awaited(ctx, broker, func() error {
		pid := c.PID
		if pid == 0 && len(c.Arguments) > 0 {
			pid = pidIn(c.Arguments[0])
		}
		if pid == 0 {
			return nil
		}
		if p, err := os.FindProcess(pid); err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			return verb.Complaint(fmt.Sprintf("process not running: %d", pid))
		}
		return nil
	})
	if err == nil {
		c.Say("Applications 'rabbit_and_plugins' are running on node %s", c.Broker)
	}
	return err
}

// pidIn returns the number in a file, 0 if there is none yet.
func pidIn(file string) int {
	text, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}
