package main

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"candlemark/internal/config"
	"candlemark/internal/management"

	"github.com/rs/zerolog"
)

// process implements management.Process.
type process struct {
	level    *logLevel
	asked    chan struct{} // the broker is to stop; capacity 1
	settings atomic.Pointer[[]config.Value]
}

// Settings implements management.Process.
func (p *process) Settings() []config.Value {
	if values := p.settings.Load(); values != nil {
		return *values
	}
	return nil
}

// holds replaces the effective settings.
func (p *process) holds(values []config.Value) {
	values = slices.Clone(values)
	p.settings.Store(&values)
}

// LogLevel implements management.Process.
func (p *process) LogLevel() string { return zerolog.Level(p.level.Load()).String() }

// Log implements management.Process.
func (p *process) Log(after uint64) []management.LogLine { return processLog.after(after) }

// rabbitLevels maps RabbitMQ's names of levels to those here.
var rabbitLevels = map[string]string{"notice": "info", "warning": "warn", "critical": "fatal", "alert": "fatal", "emergency": "fatal", "none": "disabled"}

// SetLogLevel implements management.Process.
func (p *process) SetLogLevel(name string) error {
	name = strings.ToLower(name)
	if ours, known := rabbitLevels[name]; known {
		name = ours
	}
	switch name {
	case "trace", "debug", "info", "warn", "error", "fatal", "disabled":
		return p.level.set(name)
	}
	return fmt.Errorf("%q is not a log level: trace, debug, info, warning, error, critical or none", name)
}

// Shutdown implements management.Process.
func (p *process) Shutdown() {
	select {
	case p.asked <- struct{}{}:
	default: // already requested
	}
}
