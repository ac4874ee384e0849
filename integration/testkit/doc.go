// Package testkit runs whole brokers inside testing/synctest bubbles, where
// days of TTL pass in milliseconds, and gives tests clients and probes.
//
// Owns: Bubble, one broker with its journal and its log; Client and Channel,
// amqp091-go over net.Pipe with helpers that fail the test instead of returning
// errors; Probe, an actor that records its mail.
//
// Nothing here may outlive its bubble: Run makes the broker inside the bubble, and stops it there after any outcome of
// the test. A log line at the error level that the test did not allow fails it.
//
// Deadlines: a helper that waits gives up after a virtual minute, which is
// longer than anything in the broker may take to answer (30 s).
package testkit
