package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// each runs command lines, whose words are separated by |, in order and checks their output.
func each(t *testing.T, url string, steps [][2]string) {
	t.Helper()
	for _, step := range steps {
		stdout, stderr, code := candlemark(url, strings.Split(step[0], "|")...)
		stdout = ports.ReplaceAllString(stdout, "127.0.0.1:*")
		if stdout != step[1] || stderr != "" || code != 0 {
			t.Errorf("%s: exit %d, stderr %q\n got %q\nwant %q", step[0], code, stderr, stdout, step[1])
		}
	}
}

func TestNodeVerbs(t *testing.T) {
	url, _, _ := serveNode(t)
	each(t, url, [][2]string{
		{"-q|await_startup", ""},
		{"-q|server_version", "4.3.6\n"},
		{"-q|check_virtual_hosts", "Node http://127.0.0.1:* reported all vhosts as running\n"},
		{"-q|check_protocol_listener|amqp", "A listener for protocol amqp is active\n"},
		{"-q|set_cluster_name|candle", ""},
		{"-q|-n|candlemark|server_version", "4.3.6\n"},
	})
	stdout, _, code := candlemark(url, "cluster_status")
	for _, part := range []string{"\nCluster name: candle\n", "\nDisk Nodes\n\ncandlemark@localhost\n", "\nAlarms\n\n(none)\n", "\nInterface: 127.0.0.1, port: "} {
		if code != 0 || !strings.Contains(stdout, part) {
			t.Errorf("exit %d, %q without %q", code, stdout, part)
		}
	}
	_, line, _ := strings.Cut(stdout, "port: ")
	port, _, _ := strings.Cut(line, ",")
	each(t, url, [][2]string{
		{"-q|check_port_listener|" + port, "A listener for port " + port + " is active\n"},
		{"-q|check_port_connectivity", "Successfully connected to ports " + port + " on node http://127.0.0.1:*\n"},
		{"-q|listeners", "Interface: 127.0.0.1, port: " + port + ", protocol: amqp, purpose: AMQP 0-9-1\n"},
	})
	if stdout, stderr, code := candlemark(url, "-q", "check_port_listener", "1"); code != 69 || stdout != "" || stderr != "No active listener\n" {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	if _, stderr, code := candlemark(url, "-n", "rabbit@elsewhere", "status"); code != 69 || !strings.HasSuffix(stderr, " is candlemark@localhost\n") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	if stdout, _, code := candlemark(url, "-s", "list_feature_flags", "name"); code != 0 || !strings.Contains(stdout, "stream_queue\n") {
		t.Errorf("exit %d, %q", code, stdout)
	}
	if _, stderr, code := candlemark("http://127.0.0.1:1", "await_startup", "-t", "1"); code != 75 {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestParameterVerbs(t *testing.T) {
	url, _, _ := serveNode(t)
	each(t, url, [][2]string{
		{`set_parameter|vhost-limits|limits|{"max-queues": 7}`, `Setting runtime parameter "limits" for component "vhost-limits" to "{"max-queues": 7}" in vhost "/" ...` + "\n"},
		{"-q|list_parameters", "component\tname\tvalue\nvhost-limits\tlimits\t{\"max-queues\":7}\n"},
		{"-q|clear_parameter|vhost-limits|limits", ""},
		{"-q|list_parameters", ""},
		{`-q|set_global_parameter|a|[1, 2]`, ""},
		{"-q|clear_global_parameter|a", ""},
	})
	if stdout, _, code := candlemark(url, "-s", "list_global_parameters"); code != 0 || !strings.HasPrefix(stdout, "internal_cluster_id\t\"rabbitmq-cluster-id-") {
		t.Errorf("exit %d, %q", code, stdout)
	}
	for line, want := range map[string]string{
		"set_global_parameter|a|{": "JSON decoding error", "clear_global_parameter|a": "Parameter does not exist",
		"clear_parameter|vhost-limits|limits": "Parameter does not exist",
	} {
		if _, stderr, code := candlemark(url, strings.Split(line, "|")...); code != 69 || stderr != "Error:\n"+want+"\n" {
			t.Errorf("%s: exit %d, %q", line, code, stderr)
		}
	}
}

func TestMoreUserVerbs(t *testing.T) {
	url, conn, _ := serveNode(t)
	each(t, url, [][2]string{
		{"-q|add_user|u|secret", ""},
		{"-q|set_user_tags|u|management", ""},
		{"-q|clear_password|u", ""},
		{"-s|list_users", "guest\t[administrator]\nu\t[management]\n"},
		{"-q|add_vhost|v|--tags|a,b", ""},
		{"-q|update_vhost_metadata|v|--description|for tests", ""},
		{"-s|list_vhosts|name|description|tags", "/\tDefault virtual host\t[]\nv\tfor tests\t[a, b]\n"},
		{"-q|close_all_user_connections|u|why", "Closed 0 connections\n"},
		{"-q|close_all_user_connections|guest|why", "Closed 1 connections\n"},
		{"-s|list_vhosts|--formatter|csv|name|tags", "\"name\",\"tags\"\n\"/\",\"[]\"\n\"v\",\"[a, b]\"\n"},
		{"-q|list_vhosts|--formatter|pretty_table", "┌──────┐\n│ name │\n├──────┤\n│ /    │\n├──────┤\n│ v    │\n└──────┘\n"},
	})
	for !conn.IsClosed() {
		runtime.Gosched()
	}
	if stdout, _, code := candlemark(url, "-q", "hash_password", "p"); code != 0 || len(stdout) != 49 {
		t.Errorf("exit %d, %q", code, stdout)
	}
	if _, stderr, code := candlemark(url, "authenticate_user", "u", "secret"); code == 0 {
		t.Errorf("a cleared password still opens: %q", stderr)
	}
}

// RabbitMQ's commands about clusters answer as on a single node, or say what to use instead.
func TestClusterVerbs(t *testing.T) {
	url, _, _ := serveNode(t)
	pid := strconv.Itoa(os.Getpid())
	own := filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(own, []byte(pid+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	each(t, url, [][2]string{
		{"-q|wait|--pid|" + pid, "Applications 'rabbit_and_plugins' are running on node http://127.0.0.1:*\n"},
		{"-q|wait|" + own, "Applications 'rabbit_and_plugins' are running on node http://127.0.0.1:*\n"},
		{"-q|start_app", ""},
		{"-q|is_running", "RabbitMQ on node candlemark@localhost is fully booted and running\n"},
		{"-q|is_booting", "RabbitMQ on node candlemark@localhost is fully booted (check with is_running), stopped or has not started booting yet\n"},
		{"-q|node_health_check", "Health check passed\n"},
		{"-q|enable_feature_flag|all", ""},
		{"-q|enable_feature_flag|stream_queue", ""},
		{"-q|list_unresponsive_queues", ""},
		{"-q|await_online_nodes|1", ""},
		{"-q|check_if_node_is_quorum_critical", "Node candlemark@localhost seems to be the only one in a single node cluster, the check does not apply\n"},
		{"-q|list_vhost_limits", "\n"},
		{"-q|list_vhost_limits|--formatter|json", "[]\n"},
		{"list_vhosts|--formatter|csv", "\"name\"\n\"/\"\n"},
	})
	for line, want := range map[string]string{
		"-q|enable_feature_flag|nosuch":  "Error:\nThis feature flag is not supported by node ",
		"-q|quorum_status|nosuch":        "Error:\nqueue 'nosuch' was not found in virtual host '/'\n",
		"-q|await_online_nodes|2":        "Error:\nError: not enough nodes joined ",
		"-q|await_online_nodes|x":        "Error (argument validation): Bad argument: the number of nodes must be a whole number\n",
		"stop_app":                       "\nCommand 'stop_app' not found. \nIn Candlemark: the broker cannot stop without its process: use stop\n",
		"-q|quorum_status|nosuch|second": "Error (argument validation): too many arguments.\n",
	} {
		if _, stderr, code := candlemark(url, strings.Split(line, "|")...); code == 0 || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: exit %d, %q", line, code, stderr)
		}
	}
	if _, stderr, code := candlemark("http://127.0.0.1:1", "-q", "wait", "--pid", "999999999"); code != 69 || stderr != "Error:\nprocess not running: 999999999\n" {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestPluginVerbs(t *testing.T) {
	url, _, _ := serveNode(t)
	for _, c := range []struct {
		line, stdout, stderr string
		code                 int
	}{
		{"-q|list|-E|-m", "rabbitmq_management\n", "", 0},
		{"-n|candlemark|list|-E|-m|shovel", "Listing plugins with pattern \"shovel\" ...\n", "", 0},
		{"-q|list|-m|rabbitmq_shovel", "rabbitmq_shovel\nrabbitmq_shovel_management\n", "", 0},
		{"-q|list|shovel$", " Configured: E = explicitly enabled; e = implicitly enabled\n | Status: * = running on candlemark@localhost\n |/\n[e*] rabbitmq_shovel\n", "", 0},
		{"-q|is_enabled|rabbitmq_management", "Plugin rabbitmq_management is enabled on node candlemark@localhost\n", "", 0},
		{"-q|is_enabled|rabbitmq_shovel|rabbitmq_prometheus", "Plugins rabbitmq_shovel, rabbitmq_prometheus are enabled on node candlemark@localhost\n", "", 0},
		{"-q|is_enabled|rabbitmq_mqtt", "", "Error:\nPlugin rabbitmq_mqtt is not enabled on node candlemark@localhost. Enabled plugins and dependencies: rabbitmq_amqp1_0, ", 69},
		{"-q|enable|--online|rabbitmq_shovel", "Plugin rabbitmq_shovel is part of the broker on node candlemark@localhost: nothing changed\n", "", 0},
		{"-q|enable|rabbitmq_mqtt", "", "Error:\nPlugin rabbitmq_mqtt is not supported: ", 69},
		{"-q|disable|--online|rabbitmq_management", "Plugin rabbitmq_management is part of the broker on node candlemark@localhost and cannot be disabled: nothing changed\n", "", 0},
		{"-q|disable|rabbitmq_mqtt", "", "", 0},
		{"-q|list_queues", "", "\nCommand 'list_queues' not found. \nrabbitmq-plugins --help lists all commands\n", 64},
	} {
		var stdout, stderr strings.Builder
		args := append([]string{"/usr/sbin/rabbitmq-plugins", "--url", url}, strings.Split(c.line, "|")...)
		code := called(args, func(string) string { return "" }, &stdout, &stderr)
		if code != c.code || stdout.String() != c.stdout || !strings.HasPrefix(stderr.String(), c.stderr) || c.stderr == "" && stderr.String() != "" {
			t.Errorf("%s: exit %d, %q, %q", c.line, code, &stdout, &stderr)
		}
	}
}
