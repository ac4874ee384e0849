// Package trace makes the copies of the firehose: what a virtual host that is traced tells of every publish and every
// delivery, with the routing keys, headers and types that RabbitMQ gives them.
//
// Owns: nothing. Copies are published like any message, but count nowhere and are not confirmed.
package trace
