// Package topology is the section of the HTTP API about queues, exchanges and bindings: lists of them, and what
// declares, binds, purges and deletes them as their user could over AMQP.
package topology
