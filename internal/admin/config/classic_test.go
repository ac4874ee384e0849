package config

import (
	"maps"
	"strings"
	"testing"
)

// TestClassicConfig_CLU23: RabbitMQ's settings for a list of nodes form a cluster.
func TestClassicConfig_CLU23(t *testing.T) {
	const file = `cluster_formation.peer_discovery_backend = rabbit_peer_discovery_classic_config
cluster_formation.classic_config.nodes.1 = rabbit@h1
cluster_formation.classic_config.nodes.2 = rabbit@h2
cluster_formation.classic_config.nodes.3 = rabbit@h3
`
	s, err := load(t, file, []string{"RABBITMQ_NODENAME=rabbit@h2", "RABBITMQ_ERLANG_COOKIE=ABCDEFGHIJKLMNOPQRST"})
	want := map[string]string{"rabbit@h1": "h1:25672", "rabbit@h2": "h2:25672", "rabbit@h3": "h3:25672"}
	if err != nil || len(s.Warnings) > 0 || s.Cluster.Node != "rabbit@h2" || !maps.Equal(s.Cluster.Addresses(), want) {
		t.Errorf("%v, %v: %+v", err, s.Warnings, s.Cluster)
	}
	s, err = load(t, file, []string{"RABBITMQ_NODENAME=rabbit@h2"})
	if err != nil || len(s.Warnings) != 1 || s.Cluster.Node != "" || len(s.Cluster.Members) > 0 {
		t.Errorf("without a secret: %v, %v: %+v", err, s.Warnings, s.Cluster)
	}
	for name, env := range map[string][]string{
		"another node":   {"RABBITMQ_NODENAME=rabbit@h4", "CANDLEMARK_CLUSTER_SECRET=ABCDEFGHIJKLMNOPQRST"},
		"a short secret": {"RABBITMQ_NODENAME=rabbit@h2", "RABBITMQ_ERLANG_COOKIE=ABC"},
	} {
		if _, err := load(t, file, env); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestDNS_CLU30: RabbitMQ's settings for nodes with a common name in the DNS form a cluster; a list of nodes takes precedence.
func TestDNS_CLU30(t *testing.T) {
	const file = "cluster_formation.peer_discovery_backend = dns\ncluster_formation.dns.hostname = nodes\n"
	const size = "cluster_formation.target_cluster_size_hint = 3\n"
	secret := []string{"RABBITMQ_NODENAME=rabbit@c-0", "RABBITMQ_ERLANG_COOKIE=ABCDEFGHIJKLMNOPQRST"}
	for _, c := range []struct{ own, node, listen string }{
		{"", "rabbit@c-0", ":25672"},
		{"cluster.node = c-0\ncluster.member.1 = c-0=h:1\ncluster.listen = :1\n", "c-0", ":1"},
	} {
		s, err := load(t, file+size+c.own, secret)
		if err != nil || len(s.Warnings) > 0 || s.Cluster.Node != c.node || s.Cluster.Listen != c.listen || s.Cluster.Hostname != "nodes" || s.Cluster.Size != 3 {
			t.Errorf("%v, %v: %+v", err, s.Warnings, s.Cluster)
		}
	}
	s, err := load(t, file+size, secret[:1])
	if err != nil || len(s.Warnings) != 1 || s.Cluster.Node != "" || s.Cluster.Hostname != "" {
		t.Errorf("without a secret: %v, %v: %+v", err, s.Warnings, s.Cluster)
	}
	s, err = load(t, file+size+"cluster_formation.classic_config.nodes.1 = rabbit@c-0\ncluster_formation.classic_config.nodes.2 = rabbit@c-1\ncluster_formation.classic_config.nodes.3 = rabbit@c-2\n", secret)
	if err != nil || len(s.Warnings) != 1 || s.Cluster.Node != "rabbit@c-0" || s.Cluster.Hostname != "" || len(s.Cluster.Members) != 3 {
		t.Errorf("with a list: %v, %v: %+v", err, s.Warnings, s.Cluster)
	}
	for content, want := range map[string]string{
		file: "how many nodes form the cluster must be set",
		size + "cluster.node = c-0\ncluster.member.1 = c-0=h:1\n": "3 nodes cannot form a cluster of the 1",
	} {
		if _, err := load(t, content, secret); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}
