package main

import (
	"runtime"
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
		{"-q|server_version", "4.0.5\n"},
		{"-q|check_virtual_hosts", "Node http://127.0.0.1:* reported all vhosts as running\n"},
		{"-q|check_protocol_listener|amqp", "A listener for protocol amqp is active\n"},
		{"-q|set_cluster_name|candle", ""},
		{"-q|-n|candlemark|server_version", "4.0.5\n"},
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
		{"-s|list_vhosts|--formatter|csv|name|tags", "/,[]\nv,\"[a, b]\"\n"},
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
