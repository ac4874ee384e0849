// Package convert turns messages of AMQP 0-9-1 into messages of AMQP 1.0 and back, as RabbitMQ 4 does: a client of one protocol reads what
// a client of the other has published.
//
//	0-9-1                       1.0
//	delivery-mode 2             header durable
//	priority, expiration        header priority, ttl
//	message-id, correlation-id  the same: a string, or a uuid for urn:uuid:…
//	user-id, reply-to           the same
//	content-type, -encoding     the same
//	timestamp                   creation-time
//	app-id                      group-id
//	type                        message annotation x-basic-type
//	headers x-…                 message annotations; CC is x-cc, x-death x-opt-deaths
//	other headers               application properties, without tables and arrays
//	exchange, routing key       message annotations x-exchange, x-routing-key
//	body                        one data section
//
// A body of other sections than data is carried in 0-9-1 as they are encoded, with the type amqp-1.0. Lost on the way to 0-9-1 are to,
// subject, group-sequence, reply-to-group-id, absolute-expiry-time, delivery annotations, the footer and annotations that do not begin
// with x-; on the way to 1.0 decimals. Parts of the bare message and the footer that would be lost are in the original ([AppendOriginal], ADR 69), from
// which clients of AMQP 1.0 get it back.
//
// It is pure: no broker, no clock.
package convert
