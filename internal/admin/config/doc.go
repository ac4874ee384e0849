// Package config holds the settings of an operator, their defaults, and one check of all of them.
//
// Owns: Config, and the table of settings (settings.go), a row for each: its flag of `candlemark serve`, its variable,
// its keys in the file and how they are read. Flags, file, variables, `candlemark config` and docs/configuration.md
// follow from it. A flag takes precedence over a variable, that over a file, that over the default. Files are in the
// syntax of rabbitmq.conf with RabbitMQ's names; foreign.go handles names without effect here.
//
// States, deadlines: none. A restart loses nothing: it reads everything again.
package config
