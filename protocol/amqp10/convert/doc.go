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
// 0-9-1 carries a body of sections other than data as they are encoded, with the type amqp-1.0. On the way to 0-9-1 these are lost: to, subject,
// group-sequence, reply-to-group-id, absolute-expiry-time, delivery annotations, the footer, message annotations without the prefix x-, and the types that
// 0-9-1 does not have. The original ([AppendOriginal], ADRs 69 and 95) keeps them, except for delivery annotations, for clients of AMQP 1.0. On the way to
// 1.0 decimals are lost.
//
// It is pure: no broker, no clock.
package convert
