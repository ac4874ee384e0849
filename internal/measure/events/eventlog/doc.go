// Package eventlog writes the broker's events to its log, in one line each.
//
// Owns: the form of the lines.
package eventlog
