// Package profile contains the settings of a run of candlemark-bench: its flags, with the names of RabbitMQ's PerfTest
// where that has one, and the profiles, each a line of flags that precedes the user's flags.
//
// A new profile is a row in table.go. A new flag is a line in flags.go; package shape implements its effect.
package profile
