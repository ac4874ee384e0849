// Package resources watches the resources of a broker: memory, disk and file descriptors.
//
// Owns: the two alarms (alarmstate.go decides, told what a look has found), the limits that follow from the memory
// watermark (internal/budget has the counters), when memory is given back to the system (release.go), and the count
// of sockets. A Meter measures; System is that of this process, tests have their own.
//
// A Monitor looks from one goroutine, between every 5 ms and every second, the more often the closer a limit is. It
// knows no actor: what is to be told to clients and queues goes through the functions of Broker. Shares of the
// watermark: ADR 17.
package resources
