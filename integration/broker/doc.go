// Package broker tests whole brokers in virtual time: it holds tests only, which start a
// broker with internal/testkit, drive it with a client, frames or HTTP requests, and look
// at what clients, queues and the journal see.
//
// Owns: nothing but the tests. Whatever several packages' tests need is in
// internal/testkit. A test of one actor or of a pure core lies beside that.
//
// File names are those of subjects: ttl, delayed and scheduled messages, lease (Queue TTL),
// deadletter and farewell, policy, types (queue types and arguments), class_* (the methods
// of AMQP 0-9-1), http_* (the HTTP API), durable and restart (what a crash or a panic
// leaves), alarm and limits (resources), model (a random test against a simple model).
//
// No test here starts a program; what needs the binary or real time is in the package above.
package broker
