package config

import (
	"os"
	"regexp"
	"strings"
)

// nodeNames matches the valid names of nodes: RabbitMQ's, with or without the host.
var nodeNames = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(@[A-Za-z0-9_][A-Za-z0-9_.:-]{0,252})?$`)

// FullNode returns the name of the node with its host: rabbit@ and the machine's short host name if none is set.
func (c Config) FullNode() string { return fullNode(c.Node, os.Hostname) }

func fullNode(name string, hostname func() (string, error)) string {
	if name == "" {
		name = "rabbit"
	}
	if strings.Contains(name, "@") {
		return name
	}
	host, _ := hostname()
	if host, _, _ = strings.Cut(host, "."); host == "" {
		host = "localhost" // the machine has no name
	}
	return name + "@" + host
}
