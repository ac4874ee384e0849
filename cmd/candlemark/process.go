package main

import (
	"slices"
	"sync/atomic"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"

	"github.com/rs/zerolog"
)

// process implements management.Process.
type process struct {
	level    *logLevel
	asked    chan struct{} // the broker is to stop; capacity 1
	settings atomic.Pointer[[]config.Value]
}

func newProcess() *process { return &process{level: processLevel, asked: make(chan struct{}, 1)} }

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

// SetLogLevel implements management.Process.
func (p *process) SetLogLevel(name string) error { return p.level.set(name) }

// Shutdown implements management.Process.
func (p *process) Shutdown() {
	select {
	case p.asked <- struct{}{}:
	default: // already requested
	}
}
