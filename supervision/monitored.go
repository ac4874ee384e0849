package supervision

import (
	"candlemark/internal/admin/config"
	"candlemark/internal/transport/budget"
	"candlemark/supervision/resources"
)

// monitored is the part of a node about memory and disk.
type monitored struct{ monitor *resources.Monitor }

// SetMemoryWatermark implements management.Host.
func (n monitored) SetMemoryWatermark(to config.Amount) { n.monitor.SetMemoryWatermark(to) }

// SetDiskFreeLimit implements management.Host.
func (n monitored) SetDiskFreeLimit(to config.Amount) { n.monitor.SetDiskFreeLimit(to) }

// Unread implements management.Host.
func (n monitored) Unread() *budget.Unread { return n.monitor.Unread() }
