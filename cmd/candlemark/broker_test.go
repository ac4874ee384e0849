package main

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"candlemark/internal/storage/definitions"

	"github.com/rs/zerolog"
)

// The broker of the demo starts with the demo's settings, and stops.
func TestDemoBrokerStarts(t *testing.T) {
	b, err := startBroker(demoConfig(t.TempDir()), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if len(b.AMQP) != 1 || b.HTTP == nil {
		t.Errorf("listens at %v and %v", b.AMQP, b.HTTP)
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
}

// A configured metrics port serves metrics without a login; the port of the API requires one.
func TestMetricsPort(t *testing.T) {
	cfg := demoConfig(t.TempDir())
	cfg.Metrics = "127.0.0.1:0"
	b, err := startBroker(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]int{b.Metrics.String() + "/metrics": 200, b.HTTP.String() + "/metrics": 401, b.HTTP.String() + "/healthz": 200, b.Metrics.String() + "/api/overview": 404} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != want {
			t.Errorf("%s: %d", at, answer.StatusCode)
		}
		_ = answer.Body.Close()
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
}

// A broker whose journal fails exits with code 1 and logs the reason.
func TestFailedJournalEndsTheBroker(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(&out)
	b, err := startBroker(demoConfig(t.TempDir()), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	b.data.failed <- errors.New("fsync: input/output error")
	if code := b.run(t.Context(), func() {}, log); code != 1 || !strings.Contains(out.String(), "input/output error") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}

// Only one broker at a time can use a data folder.
func TestDataFolderInUse(t *testing.T) {
	dir := t.TempDir()
	b, err := startBroker(demoConfig(dir), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := startBroker(demoConfig(dir), zerolog.Nop()); !errors.Is(err, definitions.ErrInUse) {
		t.Error(err)
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	if b, err = startBroker(demoConfig(dir), zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
}
