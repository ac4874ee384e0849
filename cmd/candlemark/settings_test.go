package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/site"
	"candlemark/internal/admin/management"

	"github.com/rs/zerolog"
)

// confFile writes a file with settings.
func confFile(t *testing.T, name, content string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestConfigVerbs(t *testing.T) {
	dir := t.TempDir()
	good := confFile(t, filepath.Join(dir, "good.conf"), "heartbeat = 30\ndefault_pass = s3cret\nlog.file = false\nnum_acceptors.tcp = 10\n")
	bad := confFile(t, filepath.Join(dir, "bad.conf"), "hearbeat = 30\nframe_max = 1\n")
	pattern := confFile(t, filepath.Join(dir, "pattern.conf"), "default_permissions.read = (\n")
	warning := "warning: " + good + ":4: num_acceptors.tcp has no effect here"
	for _, c := range []struct {
		args           string
		env            string
		code           int
		stdout, stderr []string
	}{
		{"check " + good, "", 0, []string{good + "\n1 file read, all settings are valid"}, []string{warning}},
		{"check", "CANDLEMARK_CONFIG=" + good, 0, []string{"1 file read"}, []string{warning}},
		{"check", "CANDLEMARK_CONFIG=none", 0, []string{"0 files read"}, nil},
		{"check " + bad, "", 65, nil, []string{bad + `:1: unknown key "hearbeat"; did you mean "heartbeat"?`, bad + ":2: frame-max: 1 is not between"}},
		{"check " + pattern, "", 65, nil, []string{"default user: "}},
		{"check absent.conf", "", 65, nil, []string{"absent.conf"}},
		{"check " + good, "CANDLEMARK_LOGLEVEL=debug", 65, nil, []string{"CANDLEMARK_LOGLEVEL: unknown setting"}},
		{
			"show --config " + good + " --amqp 127.0.0.1:1", "RABBITMQ_DEFAULT_USER=ops", 0,
			[]string{"\namqp                           127.0.0.1:1  ", "--amqp\n", good + ":1\n", "(hidden)", "RABBITMQ_DEFAULT_USER\n", "default\n"},
			[]string{warning},
		},
		{"show --config " + bad, "", 65, nil, []string{"heartbeat"}},
		{"show --nonsense", "CANDLEMARK_CONFIG=none", 64, nil, []string{"nonsense"}},
		{"show now", "CANDLEMARK_CONFIG=none", 64, nil, []string{"unexpected argument"}},
		{"help", "", 0, []string{"config check [<file>]"}, nil},
		{"", "", 64, nil, []string{"config check [<file>]"}},
		{"check a b", "", 64, nil, []string{"config check [<file>]"}},
	} {
		var out, complaints bytes.Buffer
		code := inspectSettings(strings.Fields(c.args), []string{c.env}, &out, &complaints)
		if code != c.code || c.stdout == nil && out.Len() > 0 || c.stderr == nil && complaints.Len() > 0 {
			t.Errorf("%s %s: exit %d, want %d\n%s%s", c.env, c.args, code, c.code, out.String(), complaints.String())
		}
		for _, want := range c.stdout {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, out.String())
			}
		}
		for _, want := range c.stderr {
			if !strings.Contains(complaints.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, complaints.String())
			}
		}
		if strings.Contains(out.String()+complaints.String(), "s3cret") {
			t.Errorf("%s shows the password", c.args)
		}
	}
}

// A running broker reloads exactly the settings that the table marks as reloadable.
func TestReloads(t *testing.T) {
	s, err := config.Load(flag.NewFlagSet("", flag.ContinueOnError), nil, []string{"CANDLEMARK_CONFIG=none"})
	if err != nil {
		t.Fatal(err)
	}
	var marked []string
	for _, v := range s.Values {
		if v.Reload {
			marked = append(marked, v.Name)
		}
	}
	slices.Sort(marked)
	if known := slices.Sorted(maps.Keys(reloads)); !slices.Equal(marked, known) {
		t.Errorf("marked %q, known %q", marked, known)
	}
}

// SIGHUP applies either all changes of the file or none; settings unchanged in the file keep their values in the
// broker.
func TestReload(t *testing.T) {
	const first = "vm_memory_high_watermark.absolute = 1GB\ndisk_free_limit.absolute = 1MB\nheartbeat = 10\n"
	file := confFile(t, filepath.Join(t.TempDir(), "c.conf"), first)
	read := func() (*config.Settings, error) {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		return config.Load(flags, []string{"--config", file}, nil)
	}
	settings, err := read()
	if err != nil {
		t.Fatal(err)
	}
	cfg := demoConfig(t.TempDir())
	cfg.MemoryWatermark, cfg.DiskFreeLimit = settings.MemoryWatermark, settings.DiskFreeLimit
	var out bytes.Buffer
	log, level, err := logger(&out, settings.Config)
	if err != nil {
		t.Fatal(err)
	}
	b, err := startBroker(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.stop() }()
	r := &reloader{broker: b, running: settings.Values, read: read, level: level, log: log}
	limits := func() (watermark, disk config.Amount) {
		m, _ := b.node.API().Machine(context.Background()) // never fails
		return m.MemoryWatermark, m.DiskFreeLimit
	}
	reload := func(content string, wants ...string) {
		t.Helper()
		out.Reset()
		confFile(t, file, content)
		r.reload()
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
	}
	b.node.API().SetDiskFreeLimit(config.Amount{Bytes: 7})
	reload(first, "settings read")
	if _, disk := limits(); disk.Bytes != 7 {
		t.Error("what has not changed in the file was set again:", disk)
	}
	reload("vm_memory_high_watermark.absolute = 2GB\nconnection_max = -1\nhearbeat = 20\n",
		`:3: unknown key`, `:2: connection-max: -1 is negative`, "the settings are unchanged")
	if memory, _ := limits(); memory.Bytes != 1_000_000_000 {
		t.Error("half of a bad file was taken over:", memory)
	}
	log.Debug().Msg("unseen")
	reload("vm_memory_high_watermark.absolute = 2GB\ndisk_free_limit.absolute = 2MB\nheartbeat = 20\nloopback_users = none\nconnection_max = 5\nlog.console.level = debug\n",
		"setting=memory-high-watermark", "value=2000000000", "setting=log-level", "needs a restart", "setting=heartbeat")
	log.Debug().Msg("seen")
	memory, disk := limits()
	if memory.Bytes != 2_000_000_000 || disk.Bytes != 2_000_000 || !strings.Contains(out.String(), "seen") || strings.Contains(out.String(), "unseen") {
		t.Errorf("watermark %v, disk %v\n%s", memory, disk, out.String())
	}
}

// A user with a well-known password stays restricted to loopback, even if a variable sets another password for the
// first user of a new data folder.
func TestKnownPasswordStaysHere(t *testing.T) {
	cfg := config.Default(os.Getenv)
	cfg.LoopbackUsers, cfg.OpenFirst, cfg.First.Password = nil, true, "s3cret"
	for password, refused := range map[string]bool{"guest": true, "s3cret": false} {
		b := &broker{users: auth.NewGuest()}
		if _, err := b.users.PutAccount(auth.Account{Name: "guest", Hash: auth.HashPassword(password)}); err != nil {
			t.Fatal(err)
		}
		b.setLoopback(cfg, zerolog.Nop())
		_, err := b.users.Authenticate("PLAIN", []byte("\x00guest\x00"+password), auth.Peer{Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}})
		if (err != nil) != refused {
			t.Errorf("%s: %v", password, err)
		}
	}
}

// known is a cluster of which only the state is known.
type known management.ClusterState

func (k known) ClusterState() management.ClusterState { return management.ClusterState(k) }

// TestSitesOfCluster_CLU21: browsers may call a leader by the names of all members, because other nodes pass their requests on as they are.
func TestSitesOfCluster_CLU21(t *testing.T) {
	cfg := config.Config{HTTPHosts: []string{"broker.example"}}
	nodes := known{Members: []management.Member{{Name: "n1", Address: "h1.example:25672"}, {Name: "n2", Address: "h2.example:25672"}}}
	for host, want := range map[string]site.Refusal{"h2.example:15672": "", "broker.example": "", "other.example": site.UnknownHost} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		r.Header.Set("Cookie", "x=y")
		if got := sitesOf(cfg, nodes).Judge(r); got != want {
			t.Errorf("%s: %q", host, got)
		}
	}
}
