package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Cluster are the settings of a node of a cluster.
type Cluster struct {
	Node    string   // its name; empty for a broker alone
	Members []string // name=host:port
	Listen  string   // empty for the address among the members
	Secret  string
	// Hostname, unless empty, has the addresses of all nodes in the DNS; Members has none, or only this node then (CLU-30).
	Hostname string
	Size     uint // how many nodes form the cluster; 0 for the number of members
	// CopyRate is how many bytes of copies of its data a node sends in a second; 0 for no limit (CLU-29).
	CopyRate Amount
	// TLS has the files for the connections between the nodes: all of them or none.
	TLS ClusterTLS
}

// ClusterTLS names files in PEM.
type ClusterTLS struct{ Cert, Key, CA string }

// minSecret is the least length of a secret, bytes.
const minSecret = 16

// minCopyRate is the least rate of copies, bytes in a second: a block of one takes a second then.
const minCopyRate = 1 << 20

// parseRate reads a rate of copies: a size, or 0 for no limit.
func parseRate(text string) (Amount, error) {
	n, err := ParseSize(text)
	if err == nil && n > 0 && n < minCopyRate {
		err = fmt.Errorf("%q is neither 0 nor at least 1MiB", text)
	}
	return Amount{Bytes: n}, err
}

// Addresses returns the addresses of the members by name. The settings were checked.
func (c Cluster) Addresses() map[string]string {
	members := map[string]string{}
	for _, m := range c.Members {
		name, address, _ := strings.Cut(m, "=")
		members[name] = address
	}
	return members
}

// clusterPort is the port of a node of which only the host is known; RabbitMQ's nodes use the same one for each other.
const clusterPort = "25672"

// classicNode reads a node of RabbitMQ's classic_config, such as rabbit@host.
func classicNode(value, _, _ string) (string, error) {
	_, host, ok := strings.Cut(value, "@")
	if !ok || host == "" {
		return "", errors.New("a node is rabbit@host")
	}
	return value + "=" + net.JoinHostPort(host, clusterPort), nil
}

// ClusterAddress returns the address of a node's port for other nodes: of rabbit@host, or as host:port. Errors: it is neither.
func ClusterAddress(node string) (string, error) {
	if _, host, ok := strings.Cut(node, "@"); ok && host != "" {
		return net.JoinHostPort(host, clusterPort), nil
	}
	if _, _, err := net.SplitHostPort(node); err != nil {
		return "", errors.New("a node is rabbit@host, or host:port of its port of the cluster")
	}
	return node, nil
}

// form makes the broker a node of the cluster that RabbitMQ's settings describe, if it is one of them: its name is that of the node. Without a
// secret or certificates there is no cluster, and form returns a warning.
func (c *Config) form() (warning string) {
	m := &c.Cluster
	if m.Hostname != "" {
		return c.find()
	}
	if m.Node != "" || len(m.Members) == 0 {
		return ""
	}
	for name := range m.Addresses() {
		if !strings.Contains(name, "@") {
			return ""
		}
	}
	if m.Secret == "" && m.TLS == (ClusterTLS{}) {
		m.Members = nil
		return "cluster_formation.classic_config.nodes has no effect without cluster.secret: this broker is alone"
	}
	m.Node = c.FullNode()
	return ""
}

// find makes the broker a node of a cluster whose nodes have a name in the DNS. It returns a warning if there is none, because of other settings.
func (c *Config) find() (warning string) {
	m := &c.Cluster
	name := cmp.Or(m.Node, c.FullNode())
	for other := range m.Addresses() {
		if other != name {
			m.Hostname = ""
			return cmp.Or(c.form(), "cluster_formation.dns.hostname has no effect: the nodes of the cluster are listed")
		}
	}
	if m.Secret == "" && m.TLS == (ClusterTLS{}) {
		m.Hostname = ""
		return "cluster_formation.dns.hostname has no effect without cluster.secret: this broker is alone"
	}
	m.Node, m.Listen = name, cmp.Or(m.Listen, ":"+clusterPort)
	return ""
}

// check records what is wrong with the settings.
func (c Cluster) check(wrong *problems) {
	if c.Node == "" {
		if len(c.Members) > 0 || c.Listen != "" {
			wrong.add("cluster-node", "a member of a cluster needs its name")
		}
		return
	}
	names := map[string]bool{}
	for _, m := range c.Members {
		name, address, ok := strings.Cut(m, "=")
		if _, _, err := net.SplitHostPort(address); !ok || err != nil || name == "" || strings.ContainsAny(name, "/, ") {
			wrong.add("cluster-member", "%q is not name=host:port", m)
		}
		if names[name] {
			wrong.add("cluster-member", "there are two members named %s", name)
		}
		names[name] = true
	}
	if c.Hostname != "" && c.Size == 0 {
		wrong.add("cluster-size", "how many nodes form the cluster must be set: cluster_formation.target_cluster_size_hint")
	}
	if c.Hostname == "" && c.Size > uint(len(names)) {
		wrong.add("cluster-size", "%d nodes cannot form a cluster of the %d that are listed", c.Size, len(names))
	}
	if !names[c.Node] && c.Hostname == "" {
		wrong.add("cluster-member", "this node, %s, is not among the members", c.Node)
	}
	secure := c.TLS != ClusterTLS{}
	if len(c.Secret) < minSecret && (c.Secret != "" || !secure) {
		wrong.add("cluster-secret", "the secret of a cluster has at least %d bytes; CANDLEMARK_CLUSTER_SECRET sets it; without one, certificates are needed", minSecret)
	}
	if secure && (c.TLS.Cert == "" || c.TLS.Key == "" || c.TLS.CA == "") {
		wrong.add("cluster-tls-cert", "nodes that use TLS need a certificate, its key and the CA certificate of the cluster")
	}
}
