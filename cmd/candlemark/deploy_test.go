package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/admin/config"
)

const deployFolder = "../../docs/deploy"

func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// instructions returns the arguments of all instructions of this name in a Dockerfile.
func instructions(file, name string) (list []string) {
	for line := range strings.Lines(file) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			list = append(list, strings.TrimSpace(rest))
		}
	}
	return list
}

// TestDockerfile: the image agrees with the program: all listeners use exposed ports on all addresses, the data folder
// is the volume, the names of all tools are linked, and the health check runs an existing verb.
func TestDockerfile(t *testing.T) {
	file := deployed(t, "Dockerfile")
	conf := filepath.Join(t.TempDir(), "candlemark.conf")
	if err := os.WriteFile(conf, []byte(deployed(t, "10-defaults.conf")), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := flag.NewFlagSet("candlemark serve", flag.ContinueOnError)
	settings, err := config.Load(flags, nil, append(instructions(file, "ENV"), "CANDLEMARK_CONFIG="+conf))
	if err != nil || len(settings.Warnings) > 0 {
		t.Fatal(err, settings)
	}
	var ports []string
	for _, address := range append(slices.Clone(settings.AMQP), settings.HTTP, settings.Metrics) {
		host, port, _ := strings.Cut(address, ":")
		if host != "" {
			t.Errorf("listens at %s", address)
		}
		ports = append(ports, port)
	}
	exposed := strings.Fields(instructions(file, "EXPOSE")[0])
	for _, port := range ports {
		if !slices.Contains(exposed, port) {
			t.Errorf("port %s is not among %v", port, exposed)
		}
	}
	if volume := instructions(file, "VOLUME"); !slices.Equal(volume, []string{settings.DataDir}) {
		t.Errorf("volume %v, data in %s", volume, settings.DataDir)
	}
	for _, name := range tools {
		if !regexp.MustCompile(`for name in [^;]*\b` + name + `\b[^;]*; do ln -s candlemark`).MatchString(file) {
			t.Errorf("no link %s", name)
		}
	}
	if !strings.Contains(file, `-X main.version=$VERSION`) || instructions(file, "ARG")[0] != "VERSION="+version {
		t.Error("the version is another")
	}
	check := regexp.MustCompile(`(?m)^HEALTHCHECK .* CMD \["([^"]*)", "-q", "([^"]*)"\]$`).FindStringSubmatch(file)
	if check == nil || !slices.Contains(tools, check[1]) || program(os.Getenv, io.Discard, io.Discard).Help([]string{check[2]}) != 0 {
		t.Errorf("health check %q", check)
	}
	if user := instructions(file, "USER"); len(user) != 1 || strings.HasPrefix(user[0], "0") || !strings.Contains(file, "install -d -m 700 -o 65532 -g 65532 /out"+settings.DataDir) {
		t.Errorf("user %v", user)
	}
	if line := instructions(file, "ENTRYPOINT")[0] + instructions(file, "CMD")[0]; line != `["candlemark"]["serve"]` {
		t.Error(line)
	}
}

// TestDeploymentFiles: systemd unit, compose file and StatefulSet use only existing flags and variables, and the right folders and paths.
func TestDeploymentFiles(t *testing.T) {
	unit, compose, kubernetes := deployed(t, "candlemark.service"), deployed(t, "compose.yaml"), deployed(t, "kubernetes.yaml")
	start := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/candlemark serve (.*)$`).FindStringSubmatch(unit)
	if start == nil {
		t.Fatal("the unit starts something else")
	}
	settings, err := config.Load(flag.NewFlagSet("", flag.ContinueOnError), strings.Fields(start[1]), []string{"CANDLEMARK_CONFIG=none"})
	if err != nil || settings.DataDir != "/var/lib/candlemark" || !strings.Contains(unit, "\nStateDirectory=candlemark\n") || !strings.Contains(unit, "\nType=notify\n") {
		t.Errorf("%v: %s", err, start[1])
	}
	var known []string
	for _, name := range regexp.MustCompile(`\b(?:CANDLEMARK|RABBITMQ)_[A-Z_]+`).FindAllString(compose+kubernetes, -1) {
		known = append(known, name+"=x")
	}
	if _, err := config.Load(flag.NewFlagSet("", flag.ContinueOnError), nil, append(known, "CANDLEMARK_CONFIG=none")); err != nil || len(known) < 4 {
		t.Errorf("%v: %v", known, err)
	}
	for file, own := range map[string][]string{
		"compose-cluster.yaml": {"CLUSTER_NODE=n2", "CLUSTER_MEMBER=n1=n1:25672,n2=n2:25672,n3=n3:25672"}, "kubernetes-cluster.yaml": {"CLUSTER_NODE=candlemark-0", "CLUSTER_DNS=candlemark-nodes", "CLUSTER_SIZE=3"},
	} {
		text, environment := deployed(t, file), []string{"CANDLEMARK_CONFIG=none"}
		for _, name := range regexp.MustCompile(`\b(?:CANDLEMARK|RABBITMQ)_[A-Z_]+`).FindAllString(text, -1) {
			environment = append(environment, name+"=x")
		}
		for _, v := range append(own, "CLUSTER_SECRET=0123456789abcdef") {
			name, value, _ := strings.Cut(v, "=")
			if environment = append(environment, "CANDLEMARK_"+v); !strings.Contains(text, name) || name != "CLUSTER_SECRET" && name != "CLUSTER_NODE" && !strings.Contains(text, value) {
				t.Errorf("%s has no %s", file, v)
			}
		}
		s, err := config.Load(flag.NewFlagSet("", flag.ContinueOnError), nil, environment)
		if err != nil || len(s.Cluster.Addresses()) != 3 && s.Cluster.Size != 3 {
			t.Errorf("%s: %v", file, err)
		}
	}
	for what, texts := range map[string][]string{
		"/var/lib/candlemark":     {compose, kubernetes},
		"runAsUser: 65532":        {kubernetes},
		"path: /healthz":          {kubernetes},
		"containerPort: 15692":    {kubernetes},
		"candlemark:" + version:   {kubernetes},
		"docs/deploy/Dockerfile":  {compose},
		"/checks/ready-to-serve-": {kubernetes},
	} {
		for _, text := range texts {
			if !strings.Contains(text, what) {
				t.Errorf("%s is not there", what)
			}
		}
	}
}
