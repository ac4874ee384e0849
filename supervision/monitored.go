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

// JournalFull reports that the journal waits for room on the disk, or no longer does. While it waits there is a disk
// alarm at any limit.
func (n monitored) JournalFull(full bool) { n.monitor.JournalFull(full) }
