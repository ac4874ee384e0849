// Package profile has the settings of a run of candlemark bench: its flags, which are those of RabbitMQ's PerfTest where that has
// one, and the profiles, each of which is a line of flags that stands before those of the user.
//
// A new profile is a row in table.go. A new flag is a line in flags.go; what it does is in package shape.
package profile
