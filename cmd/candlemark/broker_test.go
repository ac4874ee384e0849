package main

import (
	"testing"

	"github.com/rs/zerolog"
)

// The demo's broker starts and stops with the settings it is given.
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
