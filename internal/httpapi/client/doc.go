// Package client speaks the broker's HTTP API from Go; the command line uses it.
// It knows the API only as a foreign client does, so it also works with RabbitMQ
// as far as the two agree.
//
// Owns: how names are put into paths, and what the answers mean as errors.
//
// Deadlines: none of its own; every call takes a context.
package client
