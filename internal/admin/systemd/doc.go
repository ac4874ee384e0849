// Package systemd reports the state of the broker to the service manager, as units with Type=notify want it
// (sd_notify).
//
// Owns: nothing; each message is a datagram of its own.
//
// States: a Notifier without a service manager sends nothing.
//
// Deadlines: with WatchdogSec in the unit, a sign of life within half of that.
//
// A restart loses: nothing.
package systemd
