package management

import "candlemark/internal/admin/config"

// Process is the program that the broker runs in.
type Process interface {
	// LogLevel names the level from which on lines are logged: trace, debug, info, warn, error, fatal or disabled.
	LogLevel() string
	// SetLogLevel changes the level, until the program restarts or the level is changed again. RabbitMQ's names are
	// accepted too.
	SetLogLevel(name string) error
	// Log returns the kept lines of the log after the one with that number, oldest first; 0 for all.
	Log(after uint64) []LogLine
	// Settings returns the settings that the program was started with or has taken over since, in the order of their
	// table.
	Settings() []config.Value
	// Shutdown has the program end as by SIGTERM, and does not wait for the end.
	Shutdown()
}

// LogLine is a line of the log.
type LogLine struct {
	ID   uint64 // grows by 1 with each line of the process
	Text string // JSON, as it was logged, unless it was too long
}
