package config

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// environ returns an environment in which no file of this machine is read, unless CANDLEMARK_CONFIG is among the variables.
func environ(variables map[string]string) []string {
	all := []string{"CANDLEMARK_CONFIG=none"}
	for name, value := range variables {
		all = append(all, name+"="+value)
	}
	return all
}

// write creates files, with their parent folders, in a new folder.
func write(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, content := range files {
		name = filepath.Join(folder, name)
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// load loads settings from a file with this content, an environment and arguments.
func load(t *testing.T, content string, environ []string, args ...string) (*Settings, error) {
	t.Helper()
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return Load(flags, append(args, "--config", filepath.Join(write(t, map[string]string{"c.conf": content}), "c.conf")), environ)
}

// value returns the setting of this name.
func (s *Settings) value(name string) Value {
	i := slices.IndexFunc(s.Values, func(v Value) bool { return v.Name == name })
	return s.Values[i]
}

// Each key of RabbitMQ's format has its meaning in RabbitMQ.
func TestKeys(t *testing.T) {
	for _, c := range []struct{ content, setting, want string }{
		{"heartbeat = 30", "heartbeat", "30"},
		{"  heartbeat=30\t# each", "heartbeat", "30"},
		{"heartbeat = 30\r\n", "heartbeat", "30"},
		{"# heartbeat = 30\n\n", "heartbeat", "60"},
		{"heartbeat = 30\nheartbeat = 40", "heartbeat", "40"},
		{"default_pass = 'a # b'", "default-pass", "a # b"},
		{"default_pass = '' # none", "default-pass", ""},
		{"default_pass = a=b", "default-pass", "a=b"},
		{"listeners.tcp.default = 5673", "amqp", ":5673"},
		{"listeners.tcp.a = 127.0.0.1:1\nlisteners.tcp.b = ::1:2\nlisteners.tcp.c = [::1]:3", "amqp", "127.0.0.1:1,[::1]:2,[::1]:3"},
		{"listeners.tcp.a = 1\nlisteners.tcp.b = 2\nlisteners.tcp.a = 3", "amqp", ":3,:2"},
		{"listeners.tcp.a = 1\nlisteners.tcp = none\nlisteners.ssl.default = 5671\nssl_options.certfile = c\nssl_options.keyfile = k", "amqp", ""},
		{"listeners.ssl.default = 5671\nssl_options.certfile = c\nssl_options.keyfile = k", "amqps", ":5671"},
		{"ssl_options.verify = verify_peer\nssl_options.cacertfile = a\nssl_options.fail_if_no_peer_cert = true", "tls-verify-peer", "true"},
		{"ssl_options.verify = verify_none", "tls-verify-peer", "false"},
		{"ssl_options.versions.1 = tlsv1.3", "tls-versions", "1.3"},
		{"ssl_options.versions.1 = tlsv1.2\nssl_options.versions.2 = tlsv1.3", "tls-versions", "1.2,1.3"},
		{"ssl_cert_login_from = common_name", "tls-login-from", "common_name"},
		{"loopback_users = none", "loopback-users", ""},
		{"loopback_users.guest = false", "loopback-users", ""},
		{"loopback_users.app = true\nloopback_users.guest = false", "loopback-users", "app"},
		{`loopback_users.a\.b = true`, "loopback-users", "a.b"},
		{"default_user_tags.monitoring = true\ndefault_user_tags.management = true\ndefault_user_tags.administrator = false", "default-user-tags", "monitoring,management"},
		{"default_permissions.read = ^a", "default-permissions-read", "^a"},
		{"management.tcp.port = 8080", "http", ":8080"},
		{"management.sample_retention_policies.global.minute = 5\nmanagement.sample_retention_policies.global.day = 1200", "samples-overview", "60/5,86400/1200"},
		{"management.sample_retention_policies.basic.7200 = 30", "samples-objects", "7200/30"},
		{"prometheus.tcp.port = 15692", "metrics", ":15692"},
		{"prometheus.tcp.ip = 127.0.0.1", "metrics", "127.0.0.1:15692"},
		{"management.tcp.ip = 10.0.0.1", "http", "10.0.0.1:15672"},
		{"management.tcp.ip = ::1\nmanagement.tcp.port = 8080", "http", "[::1]:8080"},
		{"management.ssl.port = 15671\nmanagement.ssl.certfile = c\nmanagement.ssl.keyfile = k", "https", ":15671"},
		{"management.ssl.ip = 10.0.0.1\nssl_options.certfile = c\nssl_options.keyfile = k", "https", "10.0.0.1:15671"},
		{"management.ssl.certfile = c\nmanagement.ssl.keyfile = k\nmanagement.ssl.verify = verify_peer\nmanagement.ssl.cacertfile = a", "https-verify-peer", "true"},
		{"management.ssl.certfile = c\nmanagement.ssl.keyfile = k\nmanagement.ssl.versions.1 = tlsv1.3", "https-versions", "1.3"},
		{"handshake_timeout = 20000", "handshake-timeout", "20s"},
		{"send_timeout = 250ms", "send-timeout", "250ms"},
		{"vm_memory_high_watermark.relative = 0.6", "memory-high-watermark", "0.6"},
		{"vm_memory_high_watermark.absolute = 2GB\nvm_memory_high_watermark.relative = 0.6", "memory-high-watermark", "2000000000"},
		{"disk_free_limit.absolute = 1GiB", "disk-free-limit", "1073741824"},
		{"disk_free_limit.relative = 1.5", "disk-free-limit", "mem_relative 1.5"},
		{"connection_max = infinity", "connection-max", "0"},
		{"max_connections = 5", "connection-max", "5"},
		{"channel_max = 0", "channel-max", "65535"},
		{"frame_max = 0", "frame-max", "16777216"},
		{"cluster.copy_rate = 2MiB", "cluster-copy-rate", "2097152"},
		{"segment_size = 4194304", "segment-size", "4194304"},
		{"max_message_size = 1000", "max-message-size", "1000"},
		{"log.console.level = warning", "log-level", "warn"},
		{"log.console.level = debug\nlog.default.level = error", "log-level", "debug"},
		{"log.console.formatter = json", "log-format", "json"},
		{"auth_mechanisms.1 = EXTERNAL\nauth_mechanisms.2 = PLAIN", "auth-mechanisms", "EXTERNAL,PLAIN"},
		{"product.name = RabbitMQ", "product-name", "RabbitMQ"},
		{"default_queue_type = quorum", "default-queue-type", "quorum"},
	} {
		s, err := load(t, c.content, nil)
		if err != nil && c.want != "" {
			t.Errorf("%q: %v", c.content, err)
			continue
		}
		if v := s.value(c.setting); v.Text != c.want {
			t.Errorf("%q: %s is %q from %s, not %q", c.content, c.setting, v.Text, v.From, c.want)
		}
		if len(s.Warnings) > 0 {
			t.Errorf("%q: %q", c.content, s.Warnings)
		}
	}
}

// Errors name the file, the line and the closest known name.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"\nhearbeat = 30", `:2: unknown key "hearbeat"; did you mean "heartbeat"?`},
		{"listenrs.tcp.default = 5672", `:1: unknown key "listenrs.tcp.default"; did you mean "listeners.tcp.default"?`},
		{"vm_memory_high_watermark.abslute = 1GB", `did you mean "vm_memory_high_watermark.absolute"?`},
		{"log.console.levle = info", `did you mean "log.console.level"?`},
		{"management.tcp.prt = 1", `did you mean "management.tcp.port"?`},
		{"cluster_fromation.node_type = disc", `:1: unknown key "cluster_fromation.node_type"`},
		{"nothing.like.it = 1", `:1: unknown key "nothing.like.it"` + "\n"},
		{"[{rabbit, []}].", ":1: neither a line of the form key = value"},
		{"heartbeat 30", ":1: neither a line of the form key = value"},
		{"default_pass = 'a", ":1: default_pass: a value in single quotes"},
		{"default_pass = 'a' b", ":1: default_pass: a value in single quotes"},
		{"heartbeat = often", `:1: heartbeat = "often": parse error (heartbeat interval proposed to clients, in seconds; 0 for none)`},
		{"heartbeat = 65536", ":1: heartbeat: 65536 is not between 0 and 65535"},
		{"log.console.level = inof", `:1: log.console.level = "inof": "inof" is not a log level: trace`},
		{"log.console.level = inof", `did you mean "info"?`},
		{"listeners.tcp.default = here", `:1: listeners.tcp.default = "here": "here" is neither a port nor an address and a port`},
		{"listeners.tcp.default = 127.0.0.1:99999", "does not end with a port, 0 to 65535"},
		{"listeners.tcp = all", `"all" is not supported: only none is`},
		{"management.sample_retention_policies.basic.hour = 1", `"3600/1" is not of the form LENGTH/INTERVAL in seconds`},
		{"management.sample_retention_policies.basic.day = 5", "at most 1000 samples"},
		{"management.sample_retention_policies.basic.week = 60", `"week/60" is not of the form`},
		{"management.tcp.port = 70000", `"70000" is not a port`},
		{"management.ssl.port = 15671", "c.conf:1: https: https-cert and https-key are required, or tls-cert and tls-key"},
		{"management.ssl.certfile = c", "https: https-cert and https-key are required"},
		{"management.ssl.verify = verify_peer\nssl_options.certfile = c\nssl_options.keyfile = k", "https-verify-peer: https-cert and https-key are required"},
		{"management.ssl.certfile = c\nmanagement.ssl.keyfile = k\nmanagement.ssl.verify = verify_peer", "https-verify-peer: https-ca is required"},
		{"management.ssl.password = x", "the key unencrypted"},
		{"management.listener.ssl = true", "set management.ssl.port"},
		{"management.tcp.ip = here", `"here" is not an IP address`},
		{"ssl_options.versions.1 = tlsv1.1", `"tlsv1.1" is not one of tlsv1.2, tlsv1.3; did you mean "tlsv1.2"?`},
		{"ssl_options.verify = yes", `"yes" is not one of verify_peer, verify_none`},
		{"listeners.ssl.default = 5671", ":1: amqps: tls-cert and tls-key are required"},
		{"loopback_users.guest = nobody", `"nobody" is neither true nor false`},
		{"vm_memory_high_watermark.relative = 2GB", `"2GB" is not a share of the memory, 0 to 1`},
		{"vm_memory_high_watermark.absolute = 0.4", `"0.4" is not a size such as 50MB`},
		{"disk_free_limit.relative = much", "is not a multiple of the memory"},
		{"default_pass = encrypted:abc", ":1: default_pass: encrypted values are not supported"},
		{"default_pass =", ":1: default-pass: a password is required"},
		{"default_vhost =", ":1: default-vhost: 0 bytes are not between 1 and 255"},
		{"auth_backends.1 = ldap", ":1: auth_backends.1 = ldap: only the internal database of users and permissions is supported"},
		{"auth_mechanisms.1 = RABBIT-CR-DEMO", `"RABBIT-CR-DEMO" is not one of PLAIN, AMQPLAIN, EXTERNAL, ANONYMOUS`},
		{"proxy_protocol = true", ":1: proxy_protocol = true: the PROXY protocol is not supported"},
	} {
		_, err := load(t, c.content, nil)
		if err == nil || !strings.Contains(err.Error()+"\n", c.want) {
			t.Errorf("%q: %v\nwant %s", c.content, err, c.want)
		}
	}
	_, err := load(t, "a = 1\nheartbeat = 30\nb = 2\nc", nil)
	if n := len(strings.Split(err.Error(), "\n")); n != 3 {
		t.Errorf("%d things are wrong: %v", n, err)
	}
	_, err = load(t, "default_pass = 's3cret' x", nil)
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
}

// Each family of keys of RabbitMQ without a meaning here causes one warning, unless the values ask for the actual behaviour.
func TestForeignKeys(t *testing.T) {
	s, err := load(t, `cluster_formation.peer_discovery_backend = classic_config
cluster_formation.classic_config.nodes.1 = rabbit@a
log.console = true
log.file = false
log.file.level = info
quorum_queue.commands_soft_limit = 32
auth_backends.1 = internal
proxy_protocol = false
mqtt.listeners.tcp.default = 1883
vm_memory_high_watermark_paging_ratio = 0.5
heartbeat = 10`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) != 5 || !strings.HasSuffix(s.Warnings[0], ":5: log.file.level has no effect here: there is one log, on standard error, with one level") ||
		s.Warnings[4] != "cluster_formation.classic_config.nodes has no effect without cluster.secret: this broker is alone" {
		t.Errorf("%d warnings:\n%s", len(s.Warnings), strings.Join(s.Warnings, "\n"))
	}
}

// Each key of the schemas of RabbitMQ 4.3 and its plugins is known: taken, without effect, or refused with the reason.
func TestKeysOfRabbitMQ(t *testing.T) {
	text, err := os.ReadFile("testdata/rabbitmq-keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for name := range strings.FieldsSeq(string(text)) {
		count++
		one := line{key: variablePart.ReplaceAllString(name, "1"), value: "1"}
		taken := slices.ContainsFunc(settings, func(s setting) bool {
			return slices.ContainsFunc(s.keys, func(k key) bool { return k.matches(one.key) })
		})
		if _, err := one.family(); !taken && err != nil && strings.Contains(err.Error(), "unknown key") {
			t.Error(err)
		}
	}
	if count < 800 {
		t.Error(count)
	}
}

// variablePart matches a part of a key in a schema that stands for any name.
var variablePart = regexp.MustCompile(`\$\w+`)

// A flag overrides a variable, a variable the file, and the file the default; lists are replaced, not joined.
func TestPrecedence(t *testing.T) {
	const content = "heartbeat = 10\nlisteners.tcp.a = 127.0.0.1:1\nlisteners.tcp.b = 127.0.0.1:2"
	ours := map[string]string{"CANDLEMARK_HEARTBEAT": "20", "CANDLEMARK_AMQP": "127.0.0.1:3", "CANDLEMARK_DEFAULT_USER": "a", "RABBITMQ_DEFAULT_USER": "b", "RABBITMQ_DEFAULT_VHOST": "v"}
	for _, c := range []struct {
		content, setting, want, from string
		env                          map[string]string
		args                         []string
	}{
		{"", "heartbeat", "60", "default", nil, nil},
		{content, "heartbeat", "10", "c.conf:1", nil, nil},
		{content, "heartbeat", "20", "CANDLEMARK_HEARTBEAT", ours, nil},
		{content, "heartbeat", "30", "--heartbeat", ours, []string{"--heartbeat=30"}},
		{content, "heartbeat", "10", "c.conf:1", map[string]string{"CANDLEMARK_HEARTBEAT": ""}, nil},
		{"", "amqp", "127.0.0.1:5672,[::1]:5672", "default", nil, nil},
		{content, "amqp", "127.0.0.1:1,127.0.0.1:2", "c.conf:3", nil, nil},
		{content, "amqp", "127.0.0.1:3", "CANDLEMARK_AMQP", ours, nil},
		{content, "amqp", "127.0.0.1:4,127.0.0.1:5", "--amqp", ours, []string{"--amqp", "127.0.0.1:4", "--amqp", "127.0.0.1:5"}},
		{"", "default-user", "a", "CANDLEMARK_DEFAULT_USER", ours, nil},
		{"default_vhost = f", "default-vhost", "v", "RABBITMQ_DEFAULT_VHOST", ours, nil},
	} {
		s, err := load(t, c.content, environ(c.env), c.args...)
		if err != nil {
			t.Error(err)
			continue
		}
		if v := s.value(c.setting); v.Text != c.want || !strings.HasSuffix(v.From, c.from) {
			t.Errorf("%s is %q from %s, not %q from %s", c.setting, v.Text, v.From, c.want, c.from)
		}
	}
}

func TestUnknownVariables(t *testing.T) {
	_, err := Load(flag.NewFlagSet("serve", flag.ContinueOnError), nil, environ(map[string]string{
		"CANDLEMARK_LOGLEVEL": "debug", "CANDLEMARK_XYZ": "", "RABBITMQ_NODENAME": "a@b",
		"CANDLEMARK_HTTP_URL": "x", "CANDLEMARK_TEST_ANY": "x", "CANDLEMARK_REWRITE": "1", "CANDLEMARK_REQUIRE_CLIENTS": "1", "CANDLEMARK_SMALL_DISK": "d",
	}))
	want := "CANDLEMARK_LOGLEVEL: unknown setting; did you mean \"CANDLEMARK_LOG_LEVEL\"?\nCANDLEMARK_XYZ: unknown setting"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
}

// Files in conf.d are read after the main file, in the order of their names; only the system's file may be missing.
func TestFiles(t *testing.T) {
	folder := write(t, map[string]string{
		"c.conf": "heartbeat = 1\nframe_max = 5000", "conf.d/20.conf": "heartbeat = 20", "conf.d/10.conf": "heartbeat = 10\nchannel_max = 7", "conf.d/no.txt": "bad",
	})
	main := filepath.Join(folder, "c.conf")
	for _, c := range []struct{ name, system, want string }{
		{main, "", "c.conf 10.conf 20.conf"},
		{"", main, "c.conf 10.conf 20.conf"},
		{"", filepath.Join(folder, "absent.conf"), "10.conf 20.conf"},
		{"", filepath.Join(folder, "absent", "c.conf"), ""},
	} {
		lines, files, err := readFiles(c.name, c.system)
		for i := range files {
			files[i] = filepath.Base(files[i])
		}
		if got := strings.Join(files, " "); err != nil || got != c.want {
			t.Errorf("%+v: read %s: %v", c, got, err)
		}
		if len(lines) > 0 && (lines[0].key != "heartbeat" || lines[0].value != "20" || filepath.Base(lines[0].place) != "20.conf:1") {
			t.Errorf("%+v: %+v", c, lines)
		}
	}
	if _, _, err := readFiles(filepath.Join(folder, "absent.conf"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// If variables set the name or password of the first user, the user may log in from any address; settings in a file do
// not have this effect.
func TestFirstUserFromAnywhere(t *testing.T) {
	for _, c := range []struct {
		content string
		env     map[string]string
		want    string
	}{
		{"default_user = guest\ndefault_pass = x", nil, "guest"},
		{"", map[string]string{"RABBITMQ_DEFAULT_USER": "guest", "RABBITMQ_DEFAULT_PASS": "x"}, ""},
		{"", map[string]string{"CANDLEMARK_DEFAULT_PASS": "x"}, ""},
		{"", map[string]string{"CANDLEMARK_DEFAULT_VHOST": "x"}, "guest"},
		{"", map[string]string{"CANDLEMARK_DEFAULT_USER": "ops", "CANDLEMARK_DEFAULT_PASS": "x"}, "guest"},
		{"loopback_users.guest = true", map[string]string{"CANDLEMARK_DEFAULT_PASS": "x"}, "guest"},
	} {
		s, err := load(t, c.content, environ(c.env))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.LoopbackUsers, ","); got != c.want || len(s.Warnings) > 0 {
			t.Errorf("%q %v: from this machine only %q, not %q; %q", c.content, c.env, got, c.want, s.Warnings)
		}
	}
	s, err := load(t, "", environ(map[string]string{"RABBITMQ_DEFAULT_USER": "ops"}))
	if err != nil || len(s.Warnings) != 1 || s.First.Name != "ops" || s.First.Password != "guest" {
		t.Error(s, err)
	}
}

// Every setting except the path of the file, and those of brokers that tests start, can be set in a file, and no key or variable is used
// twice.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for i := range settings {
		s := &settings[i]
		names := s.variables()
		for _, k := range s.keys {
			names = append(names, k.name)
		}
		if len(s.keys) == 0 && !slices.Contains([]string{"config", "in-memory", "test-clock", "ready-json", "port-file", "stop-with-stdin"}, s.name) {
			t.Errorf("%s is in no file", s.name)
		}
		for _, name := range names {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
	for _, f := range elsewhere {
		for _, name := range f.keys {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
	if d := Default(func(string) string { return "" }); d.problems() != nil || d.Handshake != 10*time.Second {
		t.Error(d.problems(), d.Handshake)
	}
}
