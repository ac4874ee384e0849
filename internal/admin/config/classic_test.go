package config

import (
	"maps"
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
