package main

import (
	"crypto/x509/pkix"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/config"

	"github.com/rs/zerolog"
)

// lines is a log writer that sends each line to a channel.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestHangupReadsTheCertificateAgain(t *testing.T) {
	a, folder := testkit.NewAuthority(t), t.TempDir()
	cert, key, _ := a.Write(folder, a.Issue(pkix.Name{CommonName: "x"}))
	b, files := &broker{}, config.Certificate{Cert: cert, Key: key}
	for range 2 { // two listeners share one certificate source
		if _, err := b.certificateFor(files, zerolog.Nop()); err != nil || len(b.certificates) != 1 {
			t.Fatal(len(b.certificates), err)
		}
	}
	log := make(lines, 10)
	read := func() (*config.Settings, error) { return &config.Settings{}, nil }
	r := &reloader{broker: b, read: read, log: zerolog.New(log)}
	hangups := catchHangups()
	defer hangups.end()
	kill := func() {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	logged := func(want string) {
		t.Helper()
		select {
		case line := <-log:
			if !strings.Contains(line, want) {
				t.Errorf("got %s, want %s", line, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("nothing was read")
		}
	}
	kill() // while the broker starts
	hangups.follow(r.reload)
	logged("TLS certificate reloaded")
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	kill()
	logged("the TLS certificate and the settings are unchanged")
	(&reloader{broker: &broker{}, read: read, log: zerolog.New(log)}).reload() // without TLS no certificate is reloaded
	if len(log) != 0 {
		t.Error(<-log)
	}
}

func TestUsersOfANewBroker(t *testing.T) {
	cfg := config.Default(os.Getenv)
	cfg.TLS.LoginFrom = "common_name"
	u, err := usersFor(cfg, zerolog.Nop())
	if err != nil || len(u.Accounts()) != 1 || len(u.VHosts()) != 1 {
		t.Error(u, err)
	}
	cfg.First.Read = "("
	if _, err := usersFor(cfg, zerolog.Nop()); err == nil {
		t.Error("permissions that are no expressions")
	}
	if _, err := usersFor(config.Config{}, zerolog.Nop()); err == nil {
		t.Error("logins from nowhere")
	}
	cfg = config.Config{AMQPS: []string{"127.0.0.1:0"}, TLS: config.TLS{Certificate: config.Certificate{Cert: "none", Key: "none"}}}
	if err := (&broker{}).serveTLS(cfg, zerolog.Nop()); err == nil {
		t.Error("served without a certificate")
	}
}
