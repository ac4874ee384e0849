package config

import (
	"strings"
	"testing"
)

// TestClusterTLS_CLU15: a node needs a secret or certificates, and all files of certificates.
func TestClusterTLS_CLU15(t *testing.T) {
	node := "cluster.node = n1\ncluster.member.1 = n1=h:1\n"
	files := "cluster.tls.certfile = c\ncluster.tls.keyfile = k\ncluster.tls.cacertfile = a\n"
	for content, want := range map[string]string{
		node:                                    "the secret of a cluster has at least",
		node + "cluster.secret = short":         "the secret of a cluster has at least",
		node + files + "cluster.secret = short": "the secret of a cluster has at least",
		node + "cluster.tls.certfile = c\ncluster.tls.keyfile = k": "nodes that use TLS need",
		node + files: "",
		node + files + "cluster.secret = 0123456789abcdef": "",
	} {
		s, err := load(t, content, nil)
		switch {
		case want == "" && (err != nil || s.Cluster.TLS.CA != "" && s.Cluster.TLS != ClusterTLS{"c", "k", "a"}):
			t.Errorf("%s: %v", content, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

// TestCopyRate_CLU29: the rate of copies is a size of at least 1 MiB, or 0 for no limit.
func TestCopyRate_CLU29(t *testing.T) {
	for value, want := range map[string]int64{"": 64 << 20, "2MiB": 2 << 20, "0": 0, "1000KiB": -1, "fast": -1} {
		content := ""
		if value != "" {
			content = "cluster.copy_rate = " + value
		}
		s, err := load(t, content, nil)
		if (err != nil) != (want < 0) || err == nil && s.Cluster.CopyRate.Bytes != want {
			t.Errorf("%s: %v, %v", value, s, err)
		}
	}
}
