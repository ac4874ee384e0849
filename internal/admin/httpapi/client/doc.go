// Package client is a Go client of the broker's HTTP API, used by the command line. It uses only the public API, so it
// also works with RabbitMQ as far as the two agree.
//
// Owns: the escaping of names in paths, and the errors for answers.
//
// Deadlines: none of its own; every call takes a context.
package client
