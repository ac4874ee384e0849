package management

import (
	"context"
	"time"

	"candlemark/internal/measure/clock"

	"candlemark/internal/admin/config"
	"candlemark/internal/measure/events"
	"candlemark/internal/transport/budget"
)

// Host is the part of the broker about the machine it runs on.
type Host interface {
	// Events returns what happens to the objects of the broker.
	Events() *events.Hub
	// NodeName is "rabbit@host".
	NodeName() string
	// Clock returns the broker's clock.
	Clock() *clock.Clock
	// WithTimeout is like context.WithTimeout, but counts only the time while the broker runs, not while its process is
	// paused.
	WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc)
	// Unread bounds what the clients of the HTTP API do not read; nil: nothing does.
	Unread() *budget.Unread
	// Machine measures what the process uses and may use.
	Machine(ctx context.Context) (Machine, error)
	// Service reports whether clients can connect over AMQP.
	Service() Service
	// DeadLetters are counts since the broker started.
	DeadLetters() DeadLetters
	// SetMemoryWatermark and SetDiskFreeLimit change the limits for blocking publishers, until the broker restarts. The
	// alarms are up to date when they return.
	SetMemoryWatermark(to config.Amount)
	SetDiskFreeLimit(to config.Amount)
}

// Machine describes a node. Values that cannot be measured here are 0.
type Machine struct {
	Uptime              int64 // ms
	Processors          int
	Tasks               int // goroutines
	FilesUsed, FilesMax int
	MemoryUsed          int64 // bytes, without file mappings
	MemoryMax           int64 // bytes of the machine, or the container's limit
	MemoryLimit         int64 // bytes, of the alarm
	MemoryWatermark     config.Amount
	MemoryAlarm         bool
	DiskFree            int64 // bytes
	DiskLimit           int64 // bytes, of the alarm
	DiskFreeLimit       config.Amount
	DiskAlarm           bool
	Collections         uint64
	Freed               uint64 // bytes freed by the collections
	SocketsUsed         int
	SocketsMax          int    // for AMQP
	DataDirectory       string // "" for none
	Mechanisms          []string
	Memory              Memory
}

// Memory is the broker's memory by use, in bytes.
type Memory struct {
	Resident int64 // as the system counts, without file mappings
	Objects  int64 // on the heap: these, and all else
	Messages int64 // in queues
	Arriving int64 // incomplete contents, and transactions
	Free     int64 // on the heap, not given back to the system
	Runtime  int64 // stacks, and what the runtime needs for itself
}

// Service has the settings for clients of AMQP.
type Service struct {
	Open bool // there are listeners, and the broker is not stopping
	// Connections counts open connections, with or without a login; beyond Limit, new ones are refused.
	Connections, Limit int
}
