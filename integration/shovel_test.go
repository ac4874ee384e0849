package integration

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
)

// shovelled sets a shovel as a policymaker, and waits until its status has a text.
func (b *broker) shovelled(name string, value map[string]any, want string) {
	b.Helper()
	for key, v := range map[string]any{"src-uri": "amqp://", "src-queue": "u-a", "dest-uri": "amqp://", "dest-queue": "u-b", "reconnect-delay": 1} {
		if value[key] == nil {
			value[key] = v
		}
	}
	text, err := json.Marshal(map[string]any{"value": value})
	if err != nil {
		b.Fatal(err)
	}
	if status, answer := b.askAs("poor", "PUT", "/api/parameters/shovel/%2F/"+name, string(text)); status/100 != 2 {
		b.Fatalf("%v: %d %s", value, status, answer)
	}
	b.shows(name, want)
}

// shows waits until the status of a shovel has a text.
func (b *broker) shows(name, want string) {
	b.Helper()
	got := ""
	defer func() { b.Logf("%s: %s", name, got) }()
	eventually(b.T, name+" shows "+want, func() bool {
		var all []map[string]any
		if err := json.Unmarshal([]byte(b.request("GET", "/api/shovels/%2F", "", 200)), &all); err != nil {
			b.Fatal(err)
		}
		for _, s := range all {
			if s["name"] == name {
				got = fmt.Sprint(s["state"], " ", s["reason"])
			}
		}
		return strings.Contains(got, want)
	})
}

// Addresses that lead to this broker by a host name, an IP address or another listener are its own: a policymaker's shovel
// gets no more there than at amqp://, and runs within that user's rights. Another process on this machine is not offered
// guest's password.
func TestShovelsToThisMachine_ACC2(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	b := start(t)
	_, port, _ := net.SplitHostPort(b.amqp)
	_, elsewhere, _ := net.SplitHostPort(other.Addr().String())
	b.poor()
	for i, c := range []struct{ uri, want string }{
		{"amqp://localhost:" + port, "running"},
		{"amqp://127.0.0.1:" + port, "running"},
		{"amqp://0.0.0.0:" + port, "running"},
		{"amqp://[::ffff:127.0.0.1]:" + port, "running"},
		{"amqp://poor@localhost:" + port, "running"},
		{"amqp://poor:poor@localhost:" + port, "running"},
		{"amqps://localhost:" + port + "?verify=verify_none", "running"}, // in this process TLS has nothing to protect
		{"amqp://guest@localhost:" + port, "the URI needs a password for user 'guest', because user 'poor' created the shovel"},
		{"amqp://guest:guest@127.0.0.1:" + port, "username or password not allowed"},
		{"amqp://guest:guest@0.0.0.0:" + port, "username or password not allowed"},
		{"amqp://localhost:" + elsewhere, "a URI of this machine needs a user and a password"},
		{"amqp://127.0.0.1:" + elsewhere, "a URI of this machine needs a user and a password"},
	} {
		for _, side := range []string{"src-uri", "dest-uri"} {
			b.shovelled(fmt.Sprint(i, side), map[string]any{side: c.uri}, c.want)
		}
	}
	for i, uri := range []string{"amqp://", "amqp://localhost:" + port, "amqp://poor:poor@127.0.0.1:" + port} {
		text, _ := json.Marshal(map[string]any{"value": map[string]any{
			"src-uri": "amqp://", "src-queue": "u-command", "dest-uri": uri, "dest-exchange": "candlemark.admin", "dest-exchange-key": "policy.set", "reconnect-delay": 1,
		}})
		name := fmt.Sprint("command", i)
		if status, answer := b.askAs("poor", "PUT", "/api/parameters/shovel/%2F/"+name, string(text)); status != 201 {
			t.Fatalf("%d %s", status, answer)
		}
		b.request("POST", "/api/exchanges/%2F/amq.default/publish", `{"properties":{},"routing_key":"u-command","payload_encoding":"string","payload":"{\"name\":\"evil\",\"pattern\":\".*\",\"definition\":{\"max-length\":1}}"}`, 200)
		b.shows(name, "write access to exchange 'candlemark.admin' in vhost '/' refused for user 'poor'")
		if got := b.request("GET", "/api/policies", "", 200); got != "[]" {
			t.Errorf("%s: %s", uri, got)
		}
	}
}

// poor adds a policymaker with permissions for names that begin with u-, and some queues.
func (b *broker) poor() {
	b.Helper()
	b.request("PUT", "/api/users/poor", `{"password":"poor","tags":"policymaker"}`, 201)
	names := `^(u-|candlemark\\.admin$|amq\\.default$)`
	b.request("PUT", "/api/permissions/%2F/poor", `{"configure":"`+names+`","write":"`+names+`","read":"`+names+`"}`, 201)
	for _, q := range []string{"u-a", "u-b", "u-command"} {
		b.request("PUT", "/api/queues/%2F/"+q, `{"durable":true}`, 201)
	}
}

// A file that never ends, or never begins, costs nothing, also after a restart, and its shovel can be deleted at once.
func TestShovelsReadFewFiles_ACC5(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dir, folder := t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(folder+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	b := startIn(t, dir, "--shovel-files", folder)
	b.poor()
	files := map[string]string{
		"/dev/zero": "the file is not in the folder of the setting shovel-files", "/etc/passwd": "the file is not in the folder of the setting shovel-files",
		folder + "/pipe": "not a regular file", "pipe": "not a regular file", "none": "none: no such file or directory", "../x": "the file is not in the folder of the setting shovel-files",
	}
	uri := func(file string) string { return "amqps://u:p@" + silent.Addr().String() + "?cacertfile=" + file }
	i := 0
	for file, want := range files {
		b.shovelled(fmt.Sprint(i), map[string]any{"src-uri": uri(file)}, want)
		i++
	}
	b.stop()
	b = startIn(t, dir) // now without a folder
	for i := range len(files) {
		b.shows(fmt.Sprint(i), "files cannot be used: the setting shovel-files names no folder")
	}
	for i := range len(files) {
		b.request("DELETE", fmt.Sprintf("/api/parameters/shovel/%%2F/%d", i), "", 204)
	}
	if got := b.request("GET", "/api/shovels", "", 200); got != "[]" {
		t.Error(got)
	}
}
