package integration

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// opens connects as a user to a virtual host.
func (b *broker) opens(user, password, vhost string) error {
	conn, err := amqp.DialConfig("amqp://"+b.amqp, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: user, Password: password}}, Vhost: vhost})
	if err == nil {
		err = conn.Close()
	}
	return err
}

// A new data folder gets the user and the virtual host named by RabbitMQ's environment variables; in an existing one the
// variables have no effect.
func TestFirstUserFromVariables(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	b := startWith(t, "RABBITMQ_DEFAULT_USER=ops RABBITMQ_DEFAULT_PASS='s3 cret' RABBITMQ_DEFAULT_VHOST=shop", dir)
	if err := b.opens("ops", "s3 cret", "shop"); err != nil {
		t.Fatal(err)
	}
	if err := b.opens("guest", "guest", "shop"); err == nil {
		t.Error("guest is there")
	}
	if err := b.opens("ops", "s3 cret", "/"); err == nil {
		t.Error("the virtual host / is there")
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+b.http+"/api/users", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("ops", "s3 cret")
	if answer, err := http.DefaultClient.Do(r); err != nil || answer.StatusCode != http.StatusOK { // the user is an administrator
		t.Error(answer, err)
	}
	b.stop()
	b = startWith(t, "CANDLEMARK_DEFAULT_USER=other CANDLEMARK_DEFAULT_PASS=other", dir)
	if err := b.opens("ops", "s3 cret", "shop"); err != nil {
		t.Error(err)
	}
	if err := b.opens("other", "other", "shop"); !errors.Is(err, amqp.ErrCredentials) {
		t.Error(err)
	}
}

// A settings file with included parts is read at the start and at SIGHUP; an invalid one changes nothing.
func TestSettingsFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	main, part := filepath.Join(folder, "candlemark.conf"), filepath.Join(folder, "conf.d", "10-limits.conf")
	if err := os.Mkdir(filepath.Dir(part), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(main, "disk_free_limit.absolute = 1MB\nheartbeat = 33\ncluster_name = 'shop # 1'\nnet_ticktime = 60\n")
	write(part, "disk_free_limit.absolute = 2MB\n")
	b := start(t, "--config", main)
	limit := func() string { return b.request("GET", "/api/disk-free-limit", "", http.StatusOK) }
	if text := limit(); !strings.Contains(text, "2000000") {
		t.Error(text)
	}
	if text := b.request("GET", "/api/cluster-name", "", http.StatusOK); !strings.Contains(text, "shop # 1") {
		t.Error(text)
	}
	if log := b.log.String(); !strings.Contains(log, main+":4: net_ticktime has no effect here: the settings of a cluster are cluster.node, cluster.member and cluster.secret") {
		t.Error(log)
	}
	c := b.dial()
	if c.conn.Config.Heartbeat.Seconds() > 33 {
		t.Errorf("heartbeats every %v", c.conn.Config.Heartbeat)
	}
	hangup := func(until string) {
		t.Helper()
		b.signal(syscall.SIGHUP)
		eventually(t, until, func() bool { return strings.Contains(b.log.String(), until) })
	}
	write(part, "disk_free_limit.absolute = 3MB\nhearbeat = 20\n")
	hangup(part + `:2: unknown key \"hearbeat\"; did you mean \"heartbeat\"?`)
	if text := limit(); !strings.Contains(text, "2000000") {
		t.Error(text)
	}
	write(part, "disk_free_limit.absolute = 3MB\nheartbeat = 20\n")
	hangup(`"setting":"heartbeat"`)
	if text := limit(); !strings.Contains(text, "3000000") {
		t.Error(text)
	}
	if out := b.verb(0, "config", "check", main); !strings.Contains(out, "2 files read, all settings are valid") {
		t.Error(out)
	}
}
