package config

import (
	"errors"
	"testing"
)

func TestFullNode(t *testing.T) {
	for _, c := range []struct{ name, host, want string }{
		{"", "mail", "rabbit@mail"},
		{"", "mail.example.com", "rabbit@mail"},
		{"", "", "rabbit@localhost"},
		{"rabbit", "mail", "rabbit@mail"},
		{"hare@mail.example.com", "other", "hare@mail.example.com"},
	} {
		hostname := func() (string, error) { return c.host, nil }
		if c.host == "" {
			hostname = func() (string, error) { return "", errors.New("no name") }
		}
		if got := fullNode(c.name, hostname); got != c.want {
			t.Errorf("%q on %q: %q, not %q", c.name, c.host, got, c.want)
		}
	}
}

func TestNodeName(t *testing.T) {
	for name, valid := range map[string]bool{
		"": true, "rabbit": true, "rabbit@mail": true, "rabbit-2@mail.example.com": true, "r@fe80::1": true,
		"@mail": false, "rabbit@": false, "a b": false, "a@b@c": false, "a/b": false, "-a": false,
	} {
		s, err := load(t, "", environ(map[string]string{"RABBITMQ_NODENAME": name}))
		if (err == nil) != valid || valid && s.Node != name {
			t.Errorf("%q: %q, %v", name, s.Node, err)
		}
	}
}

func TestLevel(t *testing.T) {
	for name, want := range map[string]string{
		"info": "info", "Warning": "warn", "warn": "warn", "critical": "fatal", "none": "disabled", "notice": "info", "trace": "trace", "verbose": "", "": "",
	} {
		if got, err := Level(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestSmallWatermark(t *testing.T) {
	for text, valid := range map[string]bool{"4": false, "1000000": false, "0.4": true, "1": true, "0": true, "2GB": true, "1MiB": true} {
		if _, err := load(t, "", nil, "--memory-high-watermark", text); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMemoryTotal(t *testing.T) {
	s, err := load(t, "total_memory_available_override_value = 2GB\nvm_memory_high_watermark.relative = 0.5", nil)
	if err != nil || s.MemoryTotal != 2e9 {
		t.Errorf("%d, %v", s.MemoryTotal, err)
	}
	if _, err := load(t, "", nil, "--memory-total", "1000"); err == nil {
		t.Error("1000 bytes")
	}
}
