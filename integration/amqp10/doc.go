// Package amqp10 tests the broker with clients of AMQP 1.0: in virtual time with Azure/go-amqp, beside clients of
// 0-9-1, and with its own frames for behaviour that no client has.
package amqp10
