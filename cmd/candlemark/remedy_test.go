package main

import (
	"net"
	"strings"
	"testing"

	"candlemark/internal/storage/definitions"
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
	if got := after("[::1]:5672"); got != "[::1]:5673" {
		t.Error(got)
	}
}
