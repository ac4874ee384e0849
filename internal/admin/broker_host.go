package admin

import "context"

// Host is the part of the broker that knows the machine it runs on.
type Host interface {
	// NodeName is "candlemark@host".
	NodeName() string
	// Machine measures what the process uses and may use.
	Machine(ctx context.Context) (Machine, error)
}

// Machine is what the API shows of a node. What cannot be measured here is 0.
type Machine struct {
	Uptime              int64 // ms
	Processors          int
	Tasks               int // goroutines
	FilesUsed, FilesMax int
	MemoryUsed          int64 // bytes resident
	MemoryMax           int64 // bytes of the machine
	DiskFree            int64 // bytes
	Collections         uint64
	Freed               uint64 // bytes by those
	SocketsUsed         int
	SocketsMax          int    // for AMQP
	DataDirectory       string // "" for none
	Mechanisms          []string
}
