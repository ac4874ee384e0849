// Package broker tests whole brokers in virtual time. It holds only tests, which start a broker with integration/testkit,
// drive it with a client, frames or HTTP requests, and check the state of clients, queues and the journal.
//
// Owns: nothing but the tests. Helpers for several packages are in integration/testkit. A test of one actor or of a pure
// core is beside that.
//
// Files are named after subjects: ttl, delayed and scheduled messages, lease (Queue TTL), deadletter and farewell,
// policy, types (queue types and arguments), class_* (the methods of AMQP 0-9-1), http_* (the HTTP API), durable and
// restart (the state after a crash or a panic), alarm and limits (resources), model (a random test against a simple
// model).
//
// No test here starts a program; tests with the binary or in real time are in the package above.
package broker
