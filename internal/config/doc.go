// Package config holds what an operator can set, its defaults, and one check of
// it all.
//
// Owns: Config, and the table of settings (settings.go), a row for each: its flag of
// `candlemark serve`, its variable, its keys in the file and how they are read. Flags, file,
// variables, `candlemark config` and docs/configuration.md follow from it. A flag goes before
// a variable, that before a file, that before the default. Files are in the syntax of
// rabbitmq.conf with RabbitMQ's names; foreign.go says what becomes of those that mean nothing
// here.
//
// States, deadlines: none. A restart loses nothing: it reads everything again.
package config
