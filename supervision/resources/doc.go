// Package resources watches the resources of a broker: memory, disk and file descriptors.
//
// Owns: the two alarms (alarmstate.go decides from each measurement), the limits derived from the memory watermark
// (internal/transport/budget has the counters), the return of memory to the system (release.go), and the count of sockets. A
// Meter measures; System is the Meter of this process, tests have their own.
//
// A Monitor measures in one goroutine, every 5 ms to every second, more often when a limit is closer. It knows no
// actors: it informs clients and queues through the functions of Broker. Shares of the watermark: ADR 17.
package resources
