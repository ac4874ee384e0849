package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/internal/storage/definitions"

	"github.com/rs/zerolog"
)

// Errors of a start say what to do.
func TestRemedies(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	taken := l.Addr().String()
	_, err = net.Listen("tcp", taken)
	if text := remedied(err, "amqp", taken).Error(); !strings.HasSuffix(text, "stop it, or choose another port, such as --amqp "+after(taken)) {
		t.Error(text)
	}
	if text := remedied(definitions.ErrInUse, "", "").Error(); !strings.HasSuffix(text, "with --data-dir") {
		t.Error(text)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if _, err := startBroker(demoConfig(dir), zerolog.Nop()); err == nil || !strings.HasSuffix(err.Error(), "choose a folder that this user can write to with --data-dir") {
			t.Error(err)
		}
	}
	if got := after("[::1]:5672"); got != "[::1]:5673" {
		t.Error(got)
	}
}
